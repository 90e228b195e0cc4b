import { MigrationInterface, QueryRunner } from 'typeorm';

/** Indexes the large stored responses of a key apart from the small ones, of which there may be a million. */
export class LargeAnswers1795564800000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create index idempotent_answers_large_idx on idempotent_answers (api_key_id, created_at)
      where octet_length(answer) > 16384`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('drop index idempotent_answers_large_idx');
  }
}
