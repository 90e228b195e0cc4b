import { SqlMigration } from '../sql-migration';

/**
 * A method with `@OnChanges` has no URL and no secret, and a reader knows up to which moment of which log it has all changes:
 * what waits for it is then a question to the log.
 */
export class ReaderPlaces1795564800700 extends SqlMigration {
  protected readonly upSql = `
      alter table feed_readers alter url drop not null, alter secret drop not null;
      update feed_readers set url = null, secret = null where subscription is not null;
      alter table feed_readers add caught_up_log text, add caught_up_to text;
    `;

  protected readonly downSql = `
      alter table feed_readers drop caught_up_log, drop caught_up_to;
      update feed_readers set url = 'in-process:' || subscription, secret = '' where subscription is not null;
      alter table feed_readers alter url set not null, alter secret set not null;
    `;
}
