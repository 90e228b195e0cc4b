import { SqlMigration } from '../sql-migration';

/** Finds stored leads by either form of their Salesforce ID: the function of the index compares both in the longer one. */
export class SalesforceIds1795564800601 extends SqlMigration {
  protected readonly upSql = 'reindex index leads_remote_ids_idx';

  /** The index follows its function, which an older release replaces. */
  protected readonly downSql = 'reindex index leads_remote_ids_idx';
}
