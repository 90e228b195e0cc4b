import { SqlMigration } from '../sql-migration';

/** Adds the scope of a key. Every key that exists may do everything. */
export class KeyScopes1795564800110 extends SqlMigration {
  protected readonly upSql = `alter table api_keys add scope text not null default 'all'`;

  protected readonly downSql = 'alter table api_keys drop scope';
}
