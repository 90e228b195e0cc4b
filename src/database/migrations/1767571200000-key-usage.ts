import { MigrationInterface, QueryRunner } from 'typeorm';

/** How many requests came with each key, a minute; kept for a day (access.service.ts). */
export class KeyUsage1767571200000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table key_usage (
        api_key_id uuid not null constraint key_usage_api_key_fkey references api_keys on delete cascade,
        minute timestamptz not null, -- in which a process wrote its count, of the minute before
        requests integer not null,
        constraint key_usage_pkey primary key (api_key_id, minute)
      );
      create index key_usage_minute_idx on key_usage (minute);
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('drop table key_usage');
  }
}
