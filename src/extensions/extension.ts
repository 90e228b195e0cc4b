import type { DynamicModule, Type } from '@nestjs/common';
import type { MigrationInterface } from 'typeorm';
import type { Context } from '../contexts';

/** What a project of its own adds to Lanyard. */
export interface Extension {
  /** Any Nest modules. Their entities come with `TypeOrmModule.forFeature`. */
  modules?: (Type | DynamicModule)[];
  /** Migrations that run after Lanyard's own and are recorded in the same table. */
  migrations?: (new () => MigrationInterface)[];
  /** Contexts with sections of import and export, or with resources that the change feed follows. */
  contexts?: readonly Context[];
}

/** Returns the extension as it is; TypeScript checks its shape and completes its keys. */
export const defineExtension = (extension: Extension): Extension => extension;
