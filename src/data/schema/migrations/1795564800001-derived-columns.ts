import { SqlMigration } from '../sql-migration';

/** Stores which version of its functions computed a derived column, and how far (rebuild-derived.ts). */
export class DerivedColumns1795564800001 extends SqlMigration {
  protected readonly upSql = `
      create table derived_columns (
        name text collate "C" constraint derived_columns_pkey primary key,
        version text not null, -- SHA-256 of the functions
        last_id uuid -- of the last row that was derived so; null when all are
      )`;

  protected readonly downSql = 'drop table derived_columns';
}
