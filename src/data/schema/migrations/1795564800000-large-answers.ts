import { SqlMigration } from '../sql-migration';

/** Indexes the large stored responses of a key apart from the small ones, of which there may be a million. */
export class LargeAnswers1795564800000 extends SqlMigration {
  protected readonly upSql = `
      create index idempotent_answers_large_idx on idempotent_answers (api_key_id, created_at)
      where octet_length(answer) > 16384`;

  protected readonly downSql = 'drop index idempotent_answers_large_idx';
}
