import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv, { ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { Response } from 'supertest';

interface Referring {
  $ref?: string;
}
interface Header extends Referring {
  required?: boolean;
  schema: object;
}
interface Answer extends Referring {
  headers: Record<string, Header>;
  content: { 'application/json': { schema: object } };
}
export interface Schema extends Referring {
  type?: string | string[];
  enum?: string[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  items?: Schema;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
}
interface Parameter extends Referring {
  name: string;
  in: 'path' | 'query';
  schema: Schema;
}
export interface Operation {
  operationId: string;
  tags?: string[];
  parameters: Parameter[];
  requestBody?: { content: { 'application/json': { schema: Schema; example: object } } };
  responses: Record<string, Answer>;
}
interface Description {
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: Record<'schemas' | 'parameters' | 'headers', Record<string, Record<string, unknown>>> & {
    responses: Record<string, { content: { 'application/json': { example: object } } }>;
  };
}

export const description = JSON.parse(readFileSync(join(__dirname, '../../openapi.json'), 'utf8')) as Description;

/**
 * Whether an operation is of a plain Nest module: its controller has no `@Tag`. Suites do not call it, since nothing says what
 * it takes and returns; routes.spec.ts names it.
 */
export const isPlain = ({ tags: own = [] }: Operation): boolean =>
  !own.some((tag) => description.tags.some(({ name }) => name === tag));

/** openapi.json without the operations of plain modules, and without what only they refer to. */
export function withoutPlainModules(): object {
  const operations = Object.entries(description.paths).map(([path, methods]) => {
    const described = Object.entries(methods).filter(([, operation]) => !isPlain(operation));
    return [path, Object.fromEntries(described)] as const;
  });
  const { components, paths: _, ...others } = description;
  const paths = Object.fromEntries(operations.filter(([, methods]) => Object.keys(methods).length > 0));
  const used: Record<'schemas' | 'parameters', Record<string, unknown>> = { schemas: {}, parameters: {} };
  const pending = [JSON.stringify([others, paths, components.responses])];
  while (pending.length > 0) {
    const references = pending.pop()!.matchAll(/"#\/components\/(schemas|parameters)\/([^"]+)"/g);
    for (const [, kind, name = ''] of references as Iterable<[string, 'schemas' | 'parameters', string]>) {
      if (name in used[kind]) continue;
      used[kind][name] = components[kind][name];
      pending.push(JSON.stringify(used[kind][name]));
    }
  }
  return { ...others, paths, components: { ...components, ...used } };
}

/** What stands at a place of openapi.json, or where that refers to; and the place. */
function at<T extends Referring>(place: string): { place: string; value: T | undefined } {
  const steps = place.split('/').slice(1);
  const value = steps.reduce<unknown>((node, step) => {
    return (node as Record<string, unknown> | undefined)?.[step.replaceAll('~1', '/').replaceAll('~0', '~')];
  }, description) as T | undefined;
  return value?.$ref ? at(value.$ref) : { place, value };
}

/** A part of openapi.json, or what it refers to. */
export const resolveReference = <T extends Referring>(part: T): T =>
  part.$ref ? (at<T>(part.$ref).value ?? part) : part;

/** An answer with a key that its table does not have is as wrong as one that lacks a key. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return 'properties' in inner ? { additionalProperties: false, ...inner } : inner;
}

/** Compiled in a tenth of a second, and not in half of one, by every suite: `npm run description` lints the schemas. */
const ajv = new Ajv({
  strict: false,
  allErrors: true,
  meta: false,
  validateSchema: false,
  inlineRefs: false,
  code: { optimize: false },
});
addFormats(ajv);
ajv.addSchema(closed(description) as object, 'openapi.json');

const paths = Object.keys(description.paths).map((template) => ({ template, segments: template.split('/') }));

/** The path of openapi.json that a request is for: static segments win over parameters, as in the router. */
export function templateOf(path: string): string | undefined {
  const segments = path.split('?')[0]?.split('/') ?? [];
  const fits = paths.filter(
    (candidate) =>
      candidate.segments.length === segments.length &&
      candidate.segments.every((segment, index) => segment.startsWith('{') || segment === segments[index]),
  );
  return fits.sort((a, b) => a.template.split('{').length - b.template.split('{').length)[0]?.template;
}

/** The example of an error, by the name under which openapi.json keeps it. */
export const exampleOfError = (name: string): object | undefined =>
  description.components.responses[name]?.content['application/json'].example;

const validators = new Map<string, ValidateFunction>();

/** By the place of a schema. */
function validatorOf(place: string): ValidateFunction {
  const $ref = `openapi.json${place.split('/').map(encodeURIComponent).join('/').replace('%23', '#')}`;
  const validator = validators.get($ref) ?? ajv.compile({ $ref });
  validators.set($ref, validator);
  return validator;
}

/** Statuses of requests that reach no operation, which share one description. */
const WITHOUT_OPERATION = [408, 431];

/** Compares an answer with what openapi.json says of its operation and status. */
export function expectToMatchDescription(method: string, path: string, response: Response): void {
  const { status, type } = response;
  if (type !== 'application/json') throw new Error(`${method} ${path} answered ${type || 'nothing'}`);
  const body = response.body as { status?: unknown; error?: unknown };
  if (body.status !== status) throw new Error(`status ${String(body.status)} in the body of a ${status}`);
  const template = templateOf(path);
  if (template === undefined || !description.paths[template]?.[method]) {
    if (status < 400 || typeof body.error !== 'string') throw new Error(`${method} ${path}: not an error body`);
    return;
  }
  const name = WITHOUT_OPERATION.includes(status) ? 'default' : status;
  const answer = at<Answer>(`#/paths/${template.replaceAll('/', '~1')}/${method}/responses/${name}`);
  if (!answer.value) throw new Error(`openapi.json has no ${status} for ${method} ${path}`);
  const faults = [
    ...schemaErrors(`${answer.place}/content/application~1json/schema`, body),
    ...faultsOfHeaders(answer.place, answer.value, response.headers as Record<string, string>),
  ];
  if (faults.length > 0) {
    throw new Error(`${method} ${path} ${status} is not as openapi.json has it: ${faults.join(', ')}`);
  }
}

/** What is wrong with a value at the schema that stands at a place of openapi.json, such as `#/components/schemas/Event`. */
export function schemaErrors(place: string, value: unknown): string[] {
  const validator = validatorOf(place);
  return validator(value) ? [] : [ajv.errorsText(validator.errors)];
}

/**
 * Headers of the service's own: those that it sends are described, and those that it must send are there. A server for tests
 * says in one more that it simulates faults.
 */
const OWN = /^(x-(request-id|ratelimit-.*)|retry-after|idempotency-.*|preference-.*|lanyard-(?!simulate$).*)$/;

function faultsOfHeaders(place: string, answer: Answer, sent: Record<string, string>): string[] {
  const described = Object.keys(answer.headers);
  const unknown = Object.keys(sent).filter(
    (name) => OWN.test(name) && !described.some((each) => each.toLowerCase() === name),
  );
  const faults = described.flatMap((name) => {
    const header = at<Header>(`${place}/headers/${name}`);
    const text = sent[name.toLowerCase()];
    if (text === undefined) return header.value?.required ? [`no ${name}`] : [];
    const { type } = header.value?.schema as { type: string };
    return schemaErrors(`${header.place}/schema`, type === 'integer' || type === 'number' ? Number(text) : text).map(
      (fault) => `${name} ${fault}`,
    );
  });
  return [...unknown.map((name) => `${name} is not described`), ...faults];
}
