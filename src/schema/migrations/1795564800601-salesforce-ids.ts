import { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds stored leads by either form of their Salesforce ID: the function of the index compares both in the longer one. */
export class SalesforceIds1795564800601 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('reindex index leads_remote_ids_idx');
  }

  /** The index follows its function, which an older release replaces. */
  async down(db: QueryRunner): Promise<void> {
    await db.query('reindex index leads_remote_ids_idx');
  }
}
