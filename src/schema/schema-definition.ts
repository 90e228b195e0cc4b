import type { MigrationInterface } from 'typeorm';

/** What the schema has beside Lanyard's migrations and what the entities themselves declare. Whoever migrates passes it. */
export abstract class SchemaDefinition {
  /** SQL of functions and triggers. */
  abstract readonly functions: readonly string[];
  /** Migrations of an extension. */
  abstract readonly migrations: readonly (new () => MigrationInterface)[];
}
