import { addFormats, Ajv } from '@modelcontextprotocol/server/validators/ajv';
import apiSchemas from './api-schemas.json';
import { CUT_MARK } from './result';

/** A JSON Schema. */
export interface Schema {
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: string[];
  maxLength?: number;
  additionalProperties?: boolean;
  [keyword: string]: unknown;
}

/** The input of a tool. */
export interface ObjectSchema extends Schema {
  type: 'object';
  properties: Record<string, Schema>;
  additionalProperties: false;
}

/** What is wrong with an input: the path of a field, `leads[0].email`, and what it must be. */
export interface InputError {
  field: string;
  message: string;
}

const bodies: Record<keyof typeof apiSchemas.bodies, Schema> = apiSchemas.bodies;
const ids: Record<keyof typeof apiSchemas.ids, Schema> = apiSchemas.ids;
const queries: Record<keyof typeof apiSchemas.queries, Schema> = apiSchemas.queries;

/** Lists of values, for the vocabulary. */
export const enums: Record<keyof typeof apiSchemas.enums, string[]> = apiSchemas.enums;

/** The kinds of record of the change feed. */
export const changeResources: string[] = apiSchemas.changeResources;

/** A schema of openapi.json, with a description for agents. */
const describe = (schema: Schema, description?: string): Schema =>
  description === undefined ? schema : { ...schema, description };

export const bodySchema = (name: keyof typeof bodies, description?: string): Schema =>
  describe(bodies[name], description);
export const idSchema = (name: keyof typeof ids, description?: string): Schema => describe(ids[name], description);
export const querySchema = (name: keyof typeof queries, description?: string): Schema =>
  describe(queries[name], description);

/** The page of a list, which a previous answer named. */
export const PAGE_CURSOR: Schema = {
  type: 'string',
  pattern: '^[1-9]\\d{0,8}$',
  description: 'from the previous answer, for the next page',
};

export const DRY_RUN: Schema = { type: 'boolean', description: 'try the write without storing anything' };

/** The schema of a tool's input. Unknown fields are rejected, so that a misspelled one is not ignored. */
export function objectSchema(properties: Record<string, Schema>, required: string[] = []): ObjectSchema {
  const schema: ObjectSchema = { type: 'object', properties, additionalProperties: false };
  if (required.length > 0) schema.required = required;
  return schema;
}

/** The schema of a tool that takes the fields of a body and others. */
export function bodyWith(
  name: keyof typeof bodies,
  others: Record<string, Schema>,
  descriptions: Record<string, string> = {},
): ObjectSchema {
  const { properties = {}, required = [] } = bodies[name];
  const fields = Object.entries(properties).map(([field, schema]) => [field, describe(schema, descriptions[field])]);
  const schema = objectSchema({ ...(Object.fromEntries(fields) as Record<string, Schema>), ...others });
  return required.length > 0 ? { ...schema, required } : schema;
}

/** A function that finds what is wrong with an input; undefined if nothing is. */
export function createCheck(schema: ObjectSchema): (input: unknown) => InputError | undefined {
  const ajv = new Ajv({ strict: false, validateSchema: false });
  addFormats(ajv);
  const validate = ajv.compile(schema);
  return (input) => {
    if (validate(input)) return findBrokenText(input);
    const { instancePath = '', params = {}, message = 'is invalid' } = validate.errors?.[0] ?? {};
    const { missingProperty, additionalProperty, allowedValues } = params as Record<string, unknown>;
    const name = (missingProperty ?? additionalProperty) as string | undefined;
    const field = fieldOf(name === undefined ? instancePath : `${instancePath}/${name}`);
    if (missingProperty !== undefined) return { field, message: 'is missing' };
    if (additionalProperty !== undefined) return { field, message: 'is not a field of this tool' };
    if (Array.isArray(allowedValues)) return { field, message: `must be one of ${allowedValues.join(', ')}` };
    return { field, message };
  };
}

/** The path `/leads/0/email` as the API writes it, `leads[0].email`. */
const fieldOf = (path: string): string =>
  path
    .slice(1)
    .replace(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.');

/** A text that PostgreSQL cannot store, and no schema can exclude beside another pattern. */
function findBrokenText(value: unknown, path = ''): InputError | undefined {
  if (typeof value === 'string') {
    if (CUT_MARK.test(value))
      return { field: fieldOf(path), message: 'contains the mark of a cut value: read it whole first' };
    const isBroken = value.includes('\0') || /\p{Surrogate}/u.test(value);
    return isBroken ? { field: fieldOf(path), message: 'must be well-formed text without NUL characters' } : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const error = findBrokenText(inner, `${path}/${key}`);
    if (error) return error;
  }
  return undefined;
}
