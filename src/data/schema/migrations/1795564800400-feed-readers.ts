import { SqlMigration } from '../sql-migration';

const rename = (from: string, to: string): string => `
  alter table ${from} rename to ${to};
  alter table ${to} rename constraint ${from}_pkey to ${to}_pkey;
  alter table ${to} rename constraint ${from}_organization_fkey to ${to}_organization_fkey;
  alter index ${from}_organization_idx rename to ${to}_organization_idx;
  alter index ${from}_subscription_idx rename to ${to}_subscription_idx;`;

/**
 * The readers of the change feed with their places: webhooks, and methods with `@OnChanges`. An older server does not find its
 * table any more, so that it does not deliver beside a newer one, which leads under a lock of its own.
 */
export class FeedReaders1795564800400 extends SqlMigration {
  protected readonly upSql = rename('webhooks', 'feed_readers');

  protected readonly downSql = rename('feed_readers', 'webhooks');
}
