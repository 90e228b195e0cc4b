import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What openapi.json says of the requests: the grammar from which they are made, and broken. */

export interface Schema {
  type?: string | string[];
  enum?: string[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
}

interface Written extends Schema {
  $ref?: string;
  allOf?: Written[];
}

export interface Parameter {
  name: string;
  in: string;
  schema: Schema;
}

export interface Operation {
  method: string;
  template: string;
  path: Parameter[];
  query: Parameter[];
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
  const whole = (written: Written): Schema => {
    const { $ref, allOf = [], properties, items, ...rest } = written;
    const named = components.schemas[nameIn($ref)];
    const schema: Schema = Object.assign({}, named && whole(named), ...allOf.map(whole), rest);
    if (items) schema.items = whole(items);
    if (properties) {
      schema.properties = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, whole(each)]));
    }
    return schema;
  };
  const operation = (template: string, method: string, written: WrittenOperation): Operation => {
    const parameters = written.parameters
      .map((each) => components.parameters[nameIn(each.$ref)] ?? each)
      .map((each) => ({ ...each, schema: whole(each.schema) }));
    const body = written.requestBody?.content['application/json'].schema;
    return {
      method: method.toUpperCase(),
      template: servers[0].url + template,
      path: parameters.filter((each) => each.in === 'path'),
      query: parameters.filter((each) => each.in === 'query'),
      body: body && whole(body),
    };
  };
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, written]) => operation(template, method, written)),
  );
}

export const typesOf = ({ type, enum: values }: Schema): string[] =>
  type === undefined ? [values ? 'string' : 'object'] : [type].flat();
