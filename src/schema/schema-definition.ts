/** What the schema has beside the migrations and what the entities themselves declare. Whoever migrates passes it. */
export interface SchemaDefinition {
  /** SQL of functions and triggers. */
  functions: readonly string[];
}
