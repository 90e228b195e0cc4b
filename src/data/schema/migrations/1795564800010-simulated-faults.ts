import { SqlMigration } from '../sql-migration';

/** Stores the faults that each request with a key gets on a test server. */
export class SimulatedFaults1795564800010 extends SqlMigration {
  protected readonly upSql = 'alter table api_keys add column simulate text';

  protected readonly downSql = 'alter table api_keys drop column simulate';
}
