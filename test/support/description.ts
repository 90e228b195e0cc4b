import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv, { ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { Response } from 'supertest';

interface Operation {
  responses: Record<string, { content?: { 'application/json': { schema: object } } }>;
}
interface Description {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
}

const PREFIX = '/api/v0';
const description = JSON.parse(readFileSync(join(__dirname, '../../openapi.json'), 'utf8')) as Description;

/** An answer with a key that its table does not have is as wrong as one that lacks a key. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return 'properties' in inner ? { additionalProperties: false, ...inner } : inner;
}

const ajv = new Ajv({ strict: false, allErrors: true });
addFormats(ajv);
ajv.addSchema(closed(description) as object, 'openapi.json');

const paths = Object.keys(description.paths).map((template) => ({
  template,
  segments: template.slice(PREFIX.length).split('/'),
}));

/** Static segments win over parameters, as in the router. */
function templateOf(path: string): string | undefined {
  const segments = path.split('?')[0]?.split('/') ?? [];
  const fits = paths.filter(
    (candidate) =>
      candidate.segments.length === segments.length &&
      candidate.segments.every((segment, index) => segment.startsWith('{') || segment === segments[index]),
  );
  return fits.sort((a, b) => a.template.split('{').length - b.template.split('{').length)[0]?.template;
}

const validators = new Map<string, ValidateFunction>();

function validatorOf(template: string, method: string, status: number): ValidateFunction | undefined {
  const operation = description.paths[template]?.[method];
  if (!operation?.responses[status]?.content) return undefined;
  const escape = (part: string): string => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
  const pointer = ['paths', template, method, 'responses', String(status), 'content', 'application/json', 'schema'];
  const $ref = `openapi.json#/${pointer.map(escape).join('/')}`;
  const validator = validators.get($ref) ?? ajv.compile({ $ref });
  validators.set($ref, validator);
  return validator;
}

/** Compares an answer with what openapi.json says of its operation and status. */
export function expectToMatchDescription(method: string, path: string, response: Response): void {
  if (response.type !== 'application/json') throw new Error(`${method} ${path} answered ${response.type || 'nothing'}`);
  const body = response.body as { status?: unknown; error?: unknown };
  if (body.status !== response.status)
    throw new Error(`status ${String(body.status)} in the body of a ${response.status}`);
  const template = templateOf(path);
  const validator = template && validatorOf(template, method, response.status);
  if (!validator) {
    if (response.status < 400) throw new Error(`openapi.json has no ${response.status} for ${method} ${path}`);
    if (typeof body.error !== 'string') throw new Error(`${method} ${path}: not an error body`);
    return;
  }
  if (!validator(body)) {
    throw new Error(
      `${method} ${path} ${response.status} is not as openapi.json has it: ${ajv.errorsText(validator.errors)}`,
    );
  }
}
