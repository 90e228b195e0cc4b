import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ErrorResponse } from './http/error.response';
import { errorText } from './http/errors';

type Node = Record<string, unknown>;
type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

const DESCRIPTION = `Lead capture and event management for the organization that an API key belongs to.

Lists are paged by \`limit\` (page size, at most 50) and \`offset\` (zero-based page index), in the order of creation.
Every request costs one token of its key's bucket; \`X-RateLimit-*\` headers tell how it stands.
Every error is \`{status, error}\`.

A POST or PATCH with an \`Idempotency-Key\` is carried out once: a client that got no answer sends it again, with the same
key and body, and gets the first answer.`;

const rateLimitHeaders = {
  'X-RateLimit-Limit': {
    schema: { type: 'integer' },
    description: 'Tokens that the bucket of the key holds when full.',
  },
  'X-RateLimit-Remaining': { schema: { type: 'integer' }, description: 'Whole tokens left after this request.' },
  'X-RateLimit-Reset': { schema: { type: 'integer' }, description: 'Unix second at which the bucket is full again.' },
};
const retryAfter = {
  'Retry-After': { schema: { type: 'integer', minimum: 1 }, description: 'Seconds to wait before the next attempt.' },
};

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A name of your own for this request, such as a random uuid. Sent again within 24 hours with the same API key and ' +
    'body, the request is not carried out a second time, and the first answer is given again.',
  schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
} as const;
const idempotencyReplayed = {
  'Idempotency-Replayed': {
    schema: { type: 'string', enum: ['true'] },
    description: 'Present when this is the stored answer of the first request with the Idempotency-Key.',
  },
};
/** The methods that an Idempotency-Key says something about. */
const REPEATABLE = ['post', 'patch'];

/** The OpenAPI 3.1 document of the API, from the decorators of its controllers and classes. */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Lanyard')
    .setDescription(DESCRIPTION)
    .setVersion('0')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer('/', 'This server')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'x-api-key' }, 'apiKey')
    .addSecurityRequirements('apiKey')
    .build();
  const document = SwaggerModule.createDocument(app, config, { extraModels: [ErrorResponse] });
  for (const path of Object.values(document.paths)) {
    for (const [method, operation] of Object.entries(path as Record<string, Operation>)) {
      describeOperation(method, operation);
    }
  }
  return asVersion31(document) as unknown as OpenAPIObject;
}

/** Adds what holds for every operation: its headers, and the errors that it can answer. */
function describeOperation(method: string, operation: Operation): void {
  const isRepeatable = REPEATABLE.includes(method);
  const success = operation.responses['200'] as unknown as Node;
  success.description = 'Success';
  success.headers = { ...rateLimitHeaders, ...(isRepeatable ? idempotencyReplayed : {}) };
  if (isRepeatable) (operation.parameters ??= []).push(idempotencyKey);
  const hasPathId = operation.parameters?.some((parameter) => 'in' in parameter && parameter.in === 'path');
  const statuses = [
    ...[400, 401, 403],
    ...(hasPathId ? [404] : []),
    ...(isRepeatable ? [409, 422] : []),
    ...(method === 'get' ? [] : [413]),
    ...[429, 500, 503],
  ];
  for (const status of statuses) operation.responses[String(status)] = errorResponse(status);
  if (operation.requestBody) (operation.requestBody as unknown as Node).required = true;
}

const errorResponse = (status: number) => ({
  description: errorText(status),
  headers: {
    ...(status === 401 || status === 403 ? {} : rateLimitHeaders),
    ...(status === 429 || status === 503 ? retryAfter : {}),
  },
  content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' } } },
});

/** Nest describes schemas as OpenAPI 3.0 does; 3.1 says null in JSON Schema's own words. */
function asVersion31(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(asVersion31);
  if (typeof node !== 'object' || node === null) return node;
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, asVersion31(value)]),
  ) as Node;
  if (nullable !== true) return rest;
  if (typeof rest.type === 'string' && !rest.enum && !rest.allOf) return { ...rest, type: [rest.type, 'null'] };
  const { description, example, type: _, ...schema } = rest;
  const notes = Object.fromEntries(Object.entries({ description, example }).filter(([, value]) => value !== undefined));
  return { ...notes, anyOf: [schema, { type: 'null' }] };
}
