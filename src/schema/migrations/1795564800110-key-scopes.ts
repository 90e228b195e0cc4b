import { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the scope of a key. Every key that exists may do everything. */
export class KeyScopes1795564800110 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`alter table api_keys add scope text not null default 'all'`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('alter table api_keys drop scope');
  }
}
