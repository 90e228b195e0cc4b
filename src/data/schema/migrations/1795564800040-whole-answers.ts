import { SqlMigration } from '../sql-migration';

/** Stores whole responses for idempotency keys. Those already stored were all 200, without headers. */
export class WholeAnswers1795564800040 extends SqlMigration {
  protected readonly upSql = `
      alter table idempotent_answers
        add column status smallint not null default 200,
        add column headers jsonb not null default '{}'`;

  protected readonly downSql = 'alter table idempotent_answers drop column status, drop column headers';
}
