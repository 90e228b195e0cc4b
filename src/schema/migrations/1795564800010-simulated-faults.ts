import { MigrationInterface, QueryRunner } from 'typeorm';

/** The faults that each request of a key has on a server for tests. */
export class SimulatedFaults1795564800010 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('alter table api_keys add column simulate text');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('alter table api_keys drop column simulate');
  }
}
