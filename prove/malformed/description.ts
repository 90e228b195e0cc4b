import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What openapi.json says of requests. */

export interface Schema {
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

interface Written extends Schema {
  $ref?: string;
  allOf?: Written[];
}

interface Parameter {
  name: string;
  in: string;
}

export interface Operation {
  method: string;
  /** parts of the path; parameters in braces */
  segments: string[];
  /** names of query parameters */
  query: string[];
  body?: Schema;
}

interface WrittenOperation {
  parameters: (Parameter & { $ref?: string })[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
}

interface Description {
  paths: Record<string, Record<string, WrittenOperation>>;
  servers: [{ url: string }];
  components: { schemas: Record<string, Written>; parameters: Record<string, Parameter> };
}

const nameIn = (reference = ''): string => reference.split('/').at(-1) ?? '';

/** Every operation, with each reference replaced by what it refers to. */
export function readOperations(): Operation[] {
  const file = join(__dirname, '../../openapi.json');
  const { paths, components, servers } = JSON.parse(readFileSync(file, 'utf8')) as Description;
  const whole = ({ $ref, allOf = [], properties, items, ...rest }: Written): Schema => {
    const named = components.schemas[nameIn($ref)];
    const schema: Schema = Object.assign({}, named && whole(named), ...allOf.map(whole), rest);
    if (items) schema.items = whole(items);
    if (properties) {
      schema.properties = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, whole(each)]));
    }
    return schema;
  };
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody }]) => {
      const named = parameters.map((each) => components.parameters[nameIn(each.$ref)] ?? each);
      const body = requestBody?.content['application/json'].schema;
      return {
        method: method.toUpperCase(),
        segments: (servers[0].url + template).split('/'),
        query: named.filter((each) => each.in === 'query').map(({ name }) => name),
        body: body && whole(body),
      };
    }),
  );
}

export const typesOf = ({ type, enum: values }: Schema): string[] =>
  type === undefined ? [values ? 'string' : 'object'] : [type].flat();
