import { SqlMigration } from '../sql-migration';

/**
 * Moves the words of leads to a table of their own, whose rows are a tenth as long as those of leads: a search reads those of all
 * leads that it counts. The rows are made when derived columns are rebuilt.
 */
export class LeadWordTable1795640000000 extends SqlMigration {
  protected readonly upSql = `
      drop trigger if exists t05_words_updated on leads; -- its condition depends on the column
      drop trigger if exists t05_words_inserted on leads;
      drop function if exists set_lead_words();
      drop function if exists lead_words(integer, text, text, text, text);
      drop function if exists lead_word_breaks(text); -- it has an argument more now
      alter table leads drop column words;
      create table lead_words (
        organization_id integer not null,
        position bigint not null,
        words tsvector not null,
        constraint lead_words_pkey primary key (organization_id, position)
      );
      alter table lead_words alter column words set statistics 0;
      -- New words are kept in a list, which each search reads through, and sorted into the index 128 KiB at a time.
      create index lead_words_idx on lead_words using gin (words) with (gin_pending_list_limit = 128);
      delete from derived_columns where name = 'leadWords';
    `;

  protected readonly downSql = `
      drop trigger if exists t70_words_inserted on leads;
      drop trigger if exists t70_words_updated on leads;
      drop trigger if exists t70_words_deleted on leads;
      drop table lead_words;
      alter table leads add column words tsvector not null default '';
      alter table leads alter column words set statistics 0;
      create index leads_words_idx on leads using gin (words) with (fastupdate = off) where words <> '';
      delete from derived_columns where name = 'leadWords';
    `;
}
