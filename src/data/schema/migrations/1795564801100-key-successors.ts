import { SqlMigration } from '../sql-migration';

/** Adds the key that replaces a rotated one. Nothing tells which key has replaced those that were rotated before. */
export class KeySuccessors1795564801100 extends SqlMigration {
  protected readonly upSql = 'alter table api_keys add successor_id uuid';

  protected readonly downSql = 'alter table api_keys drop successor_id';
}
