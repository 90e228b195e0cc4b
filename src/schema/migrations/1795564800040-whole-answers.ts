import { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores whole responses for idempotency keys. Those already stored were all 200, without headers. */
export class WholeAnswers1795564800040 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      alter table idempotent_answers
        add column status smallint not null default 200,
        add column headers jsonb not null default '{}'`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('alter table idempotent_answers drop column status, drop column headers');
  }
}
