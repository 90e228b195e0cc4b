import { SqlMigration } from '../sql-migration';

/** Stores which releases have migrated the database (docs/decisions/0022), and the functions of the last one. */
export class SchemaReleases1795564800050 extends SqlMigration {
  protected readonly upSql = `
      create table schema_releases (
        release text constraint schema_releases_pkey primary key,
        oldest_release text not null, -- the oldest one that runs on the schema of this one
        last_migration text not null -- the row counts as long as this migration is applied
      );

      -- What "lanyard check" expects to find.
      alter table applied_functions
        add column functions text[] not null default '{}',
        add column triggers text[] not null default '{}'; -- as table.trigger
    `;

  protected readonly downSql = `
      alter table applied_functions drop column functions, drop column triggers;
      drop table schema_releases;
    `;
}
