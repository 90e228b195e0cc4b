/** What the schema has beside the migrations and what the entities themselves declare. Whoever migrates passes it. */
export abstract class SchemaDefinition {
  /** SQL of functions and triggers. */
  abstract readonly functions: readonly string[];
}
