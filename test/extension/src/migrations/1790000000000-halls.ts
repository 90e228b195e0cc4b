import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Halls1790000000000 implements MigrationInterface {
  up = (db: QueryRunner): Promise<void> =>
    db.query(`create table halls (id uuid default uuid_v7() primary key, organization_id integer not null
        constraint halls_organization_fkey references organizations on delete cascade, position bigint not null,
        created_at timestamptz(3) not null default now(), name text not null);
      create unique index halls_list_idx on halls (organization_id, position)`);

  down = (db: QueryRunner): Promise<void> => db.query('drop table halls');
}
