import type { Schema, Schemas } from './openapi-schema';

/**
 * Builds the example of a schema from those of its parts. Without an example, an optional part is omitted and a nullable one
 * is null.
 */
export function exampleOf(schema: Schema, schemas: Schemas): unknown {
  const known = knownExampleOf(schema, schemas);
  if (known !== undefined) return known;
  const types = [schema.type].flat();
  if (types.includes('null')) return null;
  if (types.includes('boolean')) return false;
  return types.includes('integer') ? (schema.minimum ?? 0) : '';
}

function knownExampleOf(schema: Schema, schemas: Schemas): unknown {
  const { $ref, examples, oneOf, items, properties, required = [] } = schema;
  if (examples) return examples[0];
  if (schema.enum) return schema.enum[0];
  if ($ref) return knownExampleOf(schemas[$ref.split('/').pop() ?? ''] ?? {}, schemas);
  if (oneOf) return oneOf.map((each) => knownExampleOf(each, schemas)).find((each) => each !== undefined);
  if (items) return [exampleOf(items, schemas)];
  if (!properties) return undefined;
  const fields = Object.entries(properties).map(([name, field]): [string, unknown] => [
    name,
    required.includes(name) ? exampleOf(field, schemas) : knownExampleOf(field, schemas),
  ]);
  return Object.fromEntries(fields.filter(([, example]) => example !== undefined));
}
