import { description, resolveReference, type Schema } from '../../support/description';

/** What openapi.json says of requests. */

export interface Operation {
  method: string;
  /** parts of the path; parameters in braces */
  segments: string[];
  /** names of query parameters */
  query: string[];
  body?: Schema;
}

/** A part of the document with each reference replaced by what it refers to. */
function whole<T>(part: T): T {
  if (Array.isArray(part)) return part.map(whole) as T;
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(Object.entries(resolveReference(part)).map(([name, each]) => [name, whole(each)])) as T;
}

export function readOperations(): Operation[] {
  return Object.entries(description.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody }]) => ({
      method: method.toUpperCase(),
      segments: `/api/v0${template}`.split('/'),
      query: whole(parameters).flatMap((each) => (each.in === 'query' ? [each.name] : [])),
      body: whole(requestBody)?.content['application/json'].schema,
    })),
  );
}

export const typesOf = ({ type, enum: values }: Schema): string[] =>
  type === undefined ? [values ? 'string' : 'object'] : [type].flat();
