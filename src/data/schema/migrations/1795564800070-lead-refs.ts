import { SqlMigration } from '../sql-migration';

/** Stores what an import called a lead, and which program or list that name is from. */
export class LeadRefs1795564800070 extends SqlMigration {
  protected readonly upSql = 'alter table leads add column ref text, add column source text';

  protected readonly downSql = 'alter table leads drop column ref, drop column source';
}
