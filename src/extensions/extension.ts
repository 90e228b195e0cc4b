import type { DynamicModule, Type } from '@nestjs/common';
import type { MigrationInterface } from 'typeorm';
import { type Context, CONTEXTS, schemaDefinitionOf } from '../contexts';
import type { SchemaDefinition } from '../data/schema/schema-definition';
import type { ReplacingProvider } from './replaced-providers';

/** What a project of its own adds to Lanyard. */
export interface Extension {
  /** Any Nest modules. Their entities come with `TypeOrmModule.forFeature`. */
  modules?: (Type | DynamicModule)[];
  /** Migrations that run after Lanyard's own and are recorded in the same table. */
  migrations?: (new () => MigrationInterface)[];
  /**
   * Tables that foreign keys need not keep apart by organization, such as one whose rows all organizations share. Without the
   * name of such a table, it is an error at startup.
   */
  unscopedTables?: readonly string[];
  /** Contexts with sections of import and export, or with resources that the change feed follows. */
  contexts?: readonly Context[];
  /** Providers that take the place of those which a module, of Lanyard or of yours, has for the same tokens. */
  providers?: readonly ReplacingProvider[];
}

/** Returns the extension as it is; TypeScript checks its shape and completes its keys. */
export const defineExtension = (extension: Extension): Extension => extension;

/** Lanyard's contexts, and those of the extension after them. */
export const contextsOf = ({ contexts = [] }: Extension): readonly Context[] => [...CONTEXTS, ...contexts];

/** Lanyard's schema, with what the extension adds to it. */
export const extensionSchema = (extension: Extension): SchemaDefinition =>
  schemaDefinitionOf(contextsOf(extension), extension);
