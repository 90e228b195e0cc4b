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
export function toOpenApi31(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(toOpenApi31);
  if (typeof node !== 'object' || node === null) return node;
  const inner = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, toOpenApi31(value)])) as Node;
  return toNullableType(listExamples(mergeReference(inner)));
}

/** Of a reference with neighbours Nest makes an `allOf` with one member. */
const mergeReference = ({ allOf, ...rest }: Node): Node =>
  Array.isArray(allOf) ? { ...(allOf[0] as Node), ...rest } : rest;

/** A parameter keeps its `example`. */
const listExamples = ({ example, ...rest }: Node): Node =>
  example === undefined ? rest : 'in' in rest ? { ...rest, example } : { ...rest, examples: [example] };

function toNullableType({ nullable: isNullable, ...rest }: Node): Node {
  if (isNullable !== true) return rest;
  if (typeof rest.type === 'string' && !rest.enum && !rest.$ref) return { ...rest, type: [rest.type, 'null'] };
  const { description, examples, type: _, ...schema } = rest;
  return { description, examples, oneOf: [schema, { type: 'null' }] };
}
