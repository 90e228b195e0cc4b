import { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores the faults that each request with a key gets on a test server. */
export class SimulatedFaults1795564800010 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('alter table api_keys add column simulate text');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('alter table api_keys drop column simulate');
  }
}
