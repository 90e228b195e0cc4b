import { SqlMigration } from '../sql-migration';

/** Keeps what an import was, and finds the entries of records that have numbers, so that an import can be undone. */
export class AuditedImports1795564800620 extends SqlMigration {
  protected readonly upSql = `
      alter table audit_log add column details jsonb;
      create index audit_log_number_idx on audit_log (event_id) where id is null and event_id is not null;
    `;

  protected readonly downSql = `
      drop index audit_log_number_idx;
      alter table audit_log drop column details;
    `;
}
