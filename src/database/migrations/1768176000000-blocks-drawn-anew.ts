import { MigrationInterface, QueryRunner } from 'typeorm';
import { renewLists, trackedLists } from '../list-triggers';

/**
 * Where rows come between two boundaries again and again, their block is drawn anew and not the list; and rows that a
 * statement moves have nothing drawn in its middle.
 */
export class BlocksDrawnAnew1768176000000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(renewLists(await trackedLists(db)));
  }

  /** What is here stays: those before made the same. */
  async down(): Promise<void> {}
}
