import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Leaves room in each page for a row that changes. In a full page, as an import leaves it, the new version of a row goes to another
 * page, and each index gets an entry for it. Pages that are full already keep their rows until these change.
 */
export class RoomForUpdates1795564800800 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('alter table leads set (fillfactor = 70)');
    await db.query('alter table event_leads set (fillfactor = 70)');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('alter table event_leads reset (fillfactor)');
    await db.query('alter table leads reset (fillfactor)');
  }
}
