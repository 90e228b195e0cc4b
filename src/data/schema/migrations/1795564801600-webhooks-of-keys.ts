import { SqlMigration } from '../sql-migration';

/** A webhook may belong to the API keys that share it, instead of to the operator: the one that registered it, and its successors. */
export class WebhooksOfKeys1795564801600 extends SqlMigration {
  protected readonly upSql = 'alter table feed_readers add api_key_ids uuid[];';

  protected readonly downSql = `
      delete from feed_readers where api_key_ids is not null;
      alter table feed_readers drop api_key_ids;
    `;
}
