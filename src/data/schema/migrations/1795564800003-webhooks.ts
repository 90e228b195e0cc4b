import { SqlMigration } from '../sql-migration';

export class Webhooks1795564800003 extends SqlMigration {
  protected readonly upSql = `
      create table webhooks (
        id uuid constraint webhooks_pkey primary key,
        organization_id integer not null constraint webhooks_organization_fkey references organizations on delete cascade,
        created_at timestamptz(3) not null default now(),
        url text not null,
        resources text[] not null,
        cursor text not null, -- what the receiver has said yes to
        tells_end boolean not null, -- a first reading was begun, of whose end the receiver was not told yet
        secret text not null,
        old_secret text,
        old_expires_at timestamptz(3),
        failures integer not null default 0, -- since the last yes
        failing_since timestamptz(3),
        next_try_at timestamptz(3),
        moved_at timestamptz(3), -- when a try ended, or the cursor was stored
        last_success_at timestamptz(3),
        last_status integer,
        last_fault text,
        disabled_at timestamptz(3)
      );
      create index webhooks_organization_idx on webhooks (organization_id, created_at, id);
    `;

  protected readonly downSql = 'drop table webhooks';
}
