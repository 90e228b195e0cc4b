/** The parts of an OpenAPI 3.1 schema that are used here. */
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
 * Converts a schema from OpenAPI 3.0, which Nest emits, to 3.1: null is a type, `examples` replaces `example`, and a
 * reference may have siblings.
 */
export function toOpenApi31(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(toOpenApi31);
  if (typeof node !== 'object' || node === null) return node;
  const inner = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, toOpenApi31(value)])) as Node;
  return toNullableType(listExamples(mergeReference(inner)));
}

/** Nest wraps a reference with siblings in an `allOf` with one member. */
const mergeReference = ({ allOf, ...rest }: Node): Node =>
  Array.isArray(allOf) ? { ...(allOf[0] as Node), ...rest } : rest;

/** Only a parameter keeps its `example`; schemas have `examples`. */
function listExamples({ example, ...rest }: Node): Node {
  if (example === undefined) return rest;
  return 'in' in rest ? { ...rest, example } : { ...rest, examples: [example] };
}

function toNullableType({ nullable: isNullable, ...rest }: Node): Node {
  if (isNullable !== true) return rest;
  if (typeof rest.type === 'string' && !rest.enum && !rest.$ref) return { ...rest, type: [rest.type, 'null'] };
  const { description, examples, type: _, ...schema } = rest;
  return { description, examples, oneOf: [schema, { type: 'null' }] };
}
