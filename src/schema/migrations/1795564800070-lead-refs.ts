import { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores what an import called a lead, and which program or list that name is from. */
export class LeadRefs1795564800070 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('alter table leads add column ref text, add column source text');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('alter table leads drop column ref, drop column source');
  }
}
