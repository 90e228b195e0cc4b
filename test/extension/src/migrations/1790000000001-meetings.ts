import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Meetings1790000000001 implements MigrationInterface {
  up = (db: QueryRunner): Promise<void> =>
    db.query(`create table meetings (id uuid default uuid_v7() primary key, organization_id integer not null,
        lead_id uuid not null, position bigint not null, created_at timestamptz(3) not null default now(),
        starts_at timestamptz(3) not null, price numeric(10, 2),
        constraint meetings_lead_fkey foreign key (organization_id, lead_id)
          references leads (organization_id, id) on delete cascade,
        constraint meetings_starts_at_key unique (organization_id, starts_at));
      create unique index meetings_list_idx on meetings (organization_id, lead_id, position)`);

  down = (db: QueryRunner): Promise<void> => db.query('drop table meetings');
}
