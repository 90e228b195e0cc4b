import { SqlMigration } from '../sql-migration';

/** The change log names the database that wrote it, so that the webhooks of a copied database are paused. */
export class DatabaseIdentity1795564800020 extends SqlMigration {
  protected readonly upSql = `
      -- Which database wrote the log: its cluster, and its number there. Null is another one.
      alter table changes_key add column database_identity text;

      -- A transaction number that this cluster has not assigned yet comes from another one.
      update changes_key set database_identity = (
        select concat_ws('/', system_identifier, oid) from pg_control_system(), pg_database
        where datname = current_database())
      where not exists (select from changes where xid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint);

      alter table webhooks add column paused_at timestamptz(3);

      -- Positions of cursors that would not fit into a URL, because hundreds of transactions were open.
      create table cursor_positions (
        organization_id integer not null
          constraint cursor_positions_organization_fkey references organizations on delete cascade,
        hash bytea not null, -- of the positions, by which the cursor names them
        positions text not null,
        used_at timestamptz(3) not null default now(),
        constraint cursor_positions_pkey primary key (organization_id, hash)
      );
    `;

  protected readonly downSql = `
      drop table cursor_positions;
      alter table webhooks drop column paused_at;
      drop trigger if exists t70_pause_webhooks on changes_key;
      alter table changes_key drop column database_identity;
    `;
}
