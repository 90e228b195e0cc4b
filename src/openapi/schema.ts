/** What of a schema of OpenAPI 3.1 is looked at here. */
export interface Schema {
  $ref?: string;
  title?: string;
  type?: string | string[];
  enum?: unknown[];
  examples?: unknown[];
  minimum?: number;
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
}

export type Schemas = Record<string, Schema>;

type Node = Record<string, unknown>;

/**
 * Nest describes schemas as OpenAPI 3.0 does. 3.1 says null in JSON Schema's own words, knows `examples` only, and lets
 * a reference have neighbours.
 */
export function asVersion31(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(asVersion31);
  if (typeof node !== 'object' || node === null) return node;
  const inner = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, asVersion31(value)])) as Node;
  return nullable(exemplified(referring(inner)));
}

/** Of a reference with neighbours Nest makes an `allOf` with one member. */
const referring = ({ allOf, ...rest }: Node): Node =>
  Array.isArray(allOf) ? { ...(allOf[0] as Node), ...rest } : rest;

/** A parameter keeps its `example`. */
const exemplified = ({ example, ...rest }: Node): Node =>
  example === undefined ? rest : 'in' in rest ? { ...rest, example } : { ...rest, examples: [example] };

function nullable({ nullable: isNullable, ...rest }: Node): Node {
  if (isNullable !== true) return rest;
  if (typeof rest.type === 'string' && !rest.enum && !rest.$ref) return { ...rest, type: [rest.type, 'null'] };
  const { description, examples, type: _, ...schema } = rest;
  return { description, examples, oneOf: [schema, { type: 'null' }] };
}
