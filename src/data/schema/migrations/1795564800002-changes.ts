import { SqlMigration } from '../sql-migration';

/** Creates the change log that the feed reads (docs/decisions/0020), and the secret that its cursors are encoded with. */
export class Changes1795564800002 extends SqlMigration {
  protected readonly upSql = `
      -- Without a foreign key: its check would cost more than the row. The key finds what one resource has new.
      create table changes (
        xid bigint not null default pg_current_xact_id()::text::bigint, -- the transaction that made the change
        seq bigint generated always as identity,
        at timestamptz(3) not null default clock_timestamp(),
        event_id bigint, -- of an event, and of a lead of an event
        organization_id integer not null,
        resource smallint not null, -- the number of src/feed/changes/followed.ts
        operation character(1) not null, -- c(reated), u(pdated), d(eleted), or s: all before, and this, was swept
        id uuid, -- of all others, and of the lead
        remote_ids jsonb, -- of a deleted lead
        constraint changes_pkey primary key (organization_id, resource, xid, seq)
      );

      -- One row. The generation counts what makes the log another one: cursors of before are refused.
      create table changes_key (
        secret bytea not null,
        generation integer not null
      );
      insert into changes_key
      values (sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')), 1);
    `;

  protected readonly downSql = 'drop table changes, changes_key';
}
