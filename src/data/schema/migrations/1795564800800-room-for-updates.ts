import { SqlMigration } from '../sql-migration';

/**
 * Leaves room in each page for a row that changes. In a full page, as an import leaves it, the new version of a row goes to another
 * page, and each index gets an entry for it. Pages that are full already keep their rows until these change.
 */
export class RoomForUpdates1795564800800 extends SqlMigration {
  protected readonly upSql = `
      alter table leads set (fillfactor = 70);
      alter table event_leads set (fillfactor = 70);
    `;

  protected readonly downSql = `
      alter table event_leads reset (fillfactor);
      alter table leads reset (fillfactor);
    `;
}
