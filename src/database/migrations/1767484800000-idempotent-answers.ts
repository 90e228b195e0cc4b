import { MigrationInterface, QueryRunner } from 'typeorm';

/** What was answered to requests with an Idempotency-Key (docs/decisions/0012). */
export class IdempotentAnswers1767484800000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table idempotent_answers (
        api_key_id uuid not null constraint idempotent_answers_api_key_fkey references api_keys on delete cascade,
        idempotency_key text not null,
        fingerprint bytea not null, -- SHA-256 of the request
        answer text not null, -- the JSON of its results
        created_at timestamptz not null default now(),
        constraint idempotent_answers_pkey primary key (api_key_id, idempotency_key)
      );
      create index idempotent_answers_created_idx on idempotent_answers (created_at);
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('drop table idempotent_answers');
  }
}
