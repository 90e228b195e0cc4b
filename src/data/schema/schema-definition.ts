import type { MigrationInterface } from 'typeorm';

/**
 * The parts of the schema that neither Lanyard's migrations nor the entities declare. Every caller that migrates passes it.
 */
export abstract class SchemaDefinition {
  /** SQL of functions and triggers. */
  abstract readonly functions: readonly string[];
  /** Migrations of an extension. */
  abstract readonly migrations: readonly (new () => MigrationInterface)[];
  /** Tables of an extension that foreign keys need not keep apart by organization. */
  abstract readonly unscopedTables: readonly string[];
}
