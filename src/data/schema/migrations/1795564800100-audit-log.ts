import { SqlMigration } from '../sql-migration';

/** Creates the audit log: who changed which record, and when. */
export class AuditLog1795564800100 extends SqlMigration {
  protected readonly upSql = `
      -- Without a foreign key, so that the log outlives its organization and its keys.
      create table audit_log (
        at timestamptz(3) not null default clock_timestamp(),
        seq bigint generated always as identity,
        event_id bigint,
        organization_id integer not null, -- 0 for the installation
        key_id uuid,
        import_id uuid,
        id uuid,
        change character(1) not null, -- c(reated), u(pdated) or d(eleted)
        operation text not null,
        resource text not null,
        constraint audit_log_pkey primary key (organization_id, at, seq)
      );
      create index audit_log_record_idx on audit_log (id) where id is not null;
    `;

  protected readonly downSql = 'drop table audit_log';
}
