import { SqlMigration } from '../sql-migration';

/** Stores the words of a lead, and finds leads by the beginnings of them. The rows get theirs when derived columns are rebuilt. */
export class LeadWords1795564801500 extends SqlMigration {
  protected readonly upSql = `
      alter table leads add column words tsvector not null default '';
      alter table leads alter column words set statistics 0;
      -- Every search would read the pending entries through, so there are none.
      create index leads_words_idx on leads using gin (words) with (fastupdate = off) where words <> '';
    `;

  protected readonly downSql = `
      drop trigger if exists t05_words_updated on leads; -- its condition depends on the column
      drop trigger if exists t05_words_inserted on leads;
      alter table leads drop column words;
      delete from derived_columns where name = 'leadWords';
    `;
}
