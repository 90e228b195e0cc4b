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

export interface Operation {
  method: string;
  /** parts of the path; parameters in braces */
  segments: string[];
  /** names of query parameters */
  query: string[];
  body?: Schema;
}

interface Described {
  parameters: { name: string; in: string }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
}

interface Description {
  servers: [{ url: string }];
  paths: Record<string, Record<string, Described>>;
}

/** A part of the document with each reference replaced by what it refers to. */
function whole(node: unknown, document: unknown): unknown {
  if (Array.isArray(node)) return node.map((each) => whole(each, document));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref, ...rest } = node as Record<string, unknown>;
  const inner = Object.fromEntries(Object.entries(rest).map(([name, each]) => [name, whole(each, document)]));
  if (typeof $ref !== 'string') return inner;
  const steps = $ref.split('/').slice(1);
  const named = steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], document);
  return { ...(whole(named, document) as object), ...inner };
}

export function readOperations(): Operation[] {
  const document: unknown = JSON.parse(readFileSync(join(__dirname, '../../openapi.json'), 'utf8'));
  const { paths, servers } = whole(document, document) as Description;
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody }]) => ({
      method: method.toUpperCase(),
      segments: (servers[0].url + template).split('/'),
      query: parameters.filter((each) => each.in === 'query').map(({ name }) => name),
      body: requestBody?.content['application/json'].schema,
    })),
  );
}

export const typesOf = ({ type, enum: values }: Schema): string[] =>
  type === undefined ? [values ? 'string' : 'object'] : [type].flat();
