import { NON_IDEMPOTENT_METHODS } from '../http/pipeline/idempotency.interceptor';
import { badRequest, errorReference, OTHER_ERROR } from './errors';
import { exampleOf } from './examples';
import { bucketHeaders, commonHeaders, headers } from './headers';
import type { Schema, Schemas } from './openapi-schema';

/** The parts of a document that this module uses. */
interface MediaType {
  schema?: Schema;
  example?: unknown;
}
export interface Parameter {
  $ref?: string;
  name: string;
  in: string;
}
export interface SuccessResponse {
  headers?: object;
  content: Record<string, MediaType | undefined>;
}
export interface Operation {
  /** The only tag, which is the chapter of the operation. */
  tags?: [string];
  /** The scopes that may call it, by the name of the scheme. */
  security?: Record<string, string[]>[];
  description?: string;
  parameters: Parameter[];
  requestBody?: { description?: string; required?: boolean; content: Record<string, MediaType | undefined> };
  responses: Record<string, { $ref?: string; description?: string }>;
  [extension: `x-${string}`]: unknown;
}
export interface Components {
  schemas: Schemas;
  parameters: Record<string, object>;
  [kind: string]: object;
}

const MEDIA_TYPE = 'application/json';

/** Adds what all operations share: headers, examples, and possible errors. */
export function describeOperation(method: string, operation: Operation, components: Components): void {
  const { parameters, responses } = operation;
  const isPublic = operation.security?.length === 0;
  const isRead = method === 'get';
  const isRepeatable = !isPublic && NON_IDEMPOTENT_METHODS.includes(method.toUpperCase());
  const hasId = parameters.some(({ in: location }) => location === 'path');
  const preferred = isRead || isPublic ? [] : ['Prefer'];
  const shared = ['X-Request-Id', ...preferred, ...(isRepeatable ? ['Idempotency-Key'] : [])];
  operation.parameters = parametersOf(operation, shared, components);
  const success = responses['200'] as Partial<SuccessResponse> | undefined;
  if (success?.content) {
    const ofKey = isPublic ? {} : bucketHeaders();
    success.headers = { ...commonHeaders(), ...ofKey, ...(isRepeatable ? headers('Idempotency-Replayed') : {}) };
    describeSuccess(success as SuccessResponse, components.schemas);
  }
  const statuses = [
    ...Object.keys(responses)
      .map(Number)
      .filter((status) => status >= 400),
    ...(isPublic ? [] : [401, 403, 429]),
    ...(hasId ? [404] : []),
    ...(isRepeatable ? [409, 410, 422] : []),
    ...(isRead ? [] : [413]),
    500,
    503,
  ];
  // A module may describe an error of its own.
  for (const status of statuses) if (!responses[status]?.description) responses[status] = errorReference(status);
  responses['400'] = badRequest(describeBody(operation, components.schemas));
  responses.default = OTHER_ERROR;
}

/** Stores parameters that many operations have only once. */
function parametersOf({ parameters }: Operation, shared: string[], components: Components): Parameter[] {
  const isPaged = parameters.some(({ name }) => name === 'offset');
  const own = parameters.map((parameter) => {
    const isShared = parameter.in === 'path' || (isPaged && ['limit', 'offset'].includes(parameter.name));
    if (!isShared) return parameter;
    const known = components.parameters[parameter.name];
    // A module's own parameter with the same name stays in its operation.
    if (known && JSON.stringify(known) !== JSON.stringify(parameter)) return parameter;
    components.parameters[parameter.name] = parameter;
    return parameterReference(parameter.name);
  });
  return [...own, ...shared.map(parameterReference)];
}

const parameterReference = (name: string) => ({ $ref: `#/components/parameters/${name}` }) as Parameter;

function describeSuccess(success: SuccessResponse, schemas: Schemas): void {
  const schema = success.content[MEDIA_TYPE]?.schema;
  // A module may respond with a file, or describe its JSON by a schema without a title. Both stay as the module has them.
  if (schema?.title === undefined) return;
  schemas[schema.title] = schema;
  success.content[MEDIA_TYPE] = {
    schema: { $ref: `#/components/schemas/${schema.title}` },
    example: exampleOf(schema, schemas),
  };
}

/** @returns a field that an error may name */
function describeBody({ requestBody }: Operation, schemas: Schemas): string | undefined {
  if (!requestBody) return undefined;
  const media = requestBody.content[MEDIA_TYPE];
  // A module may accept another type, such as a form with files.
  if (!media?.schema) return undefined;
  requestBody.description =
    'JSON in UTF-8, at most 1 MiB after decompression. Supported content encodings: `gzip`, `deflate` (zlib format) ' +
    'and `br`; any other is 400. Unknown fields are ignored, unless you send `Prefer: handling=strict`.';
  requestBody.required = true;
  media.example = exampleOf(media.schema, schemas);
  return Object.keys((media.example || {}) as object)[0];
}
