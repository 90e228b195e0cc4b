import { MigrationInterface, QueryRunner } from 'typeorm';
import { renewLists, trackedLists } from '../list-triggers';

/** Who changes the catalogue meanwhile waits: its words would be changed in the way of before. */
const ALONE = 'lock table industry_events, industry_event_words in share row exclusive mode';

/**
 * How many records have a word is kept for each word (docs/decisions/0008): a first search for what a tenth of a million
 * records have took 35 ms to count them.
 */
export class WordsCounted1768694400000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(ALONE);
    await counts(db);
    await db.query(renewLists(await trackedLists(db))); // they settle the words, too
    await db.query(searchWith(ANY_FIRST_SEARCH, WORD_FIRST));
    await words(db); // at last: while a trigger is dropped, readers wait, too
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(ALONE);
    await db.query(searchWith(WORD_FIRST, ANY_FIRST_SEARCH));
    await db.query(`
      drop trigger industry_event_words_inserted on industry_event_words;
      drop trigger industry_event_words_updated on industry_event_words;
      drop trigger industry_event_words_deleted on industry_event_words;
      drop trigger industry_events_words_inserted on industry_events;
      drop trigger industry_events_words_updated on industry_events;
      drop trigger industry_events_words_deleted on industry_events;
      drop function index_industry_events(), count_industry_event_words(), count_words(text[], bigint[]), settle_words(),
        check_industry_event_words(), recount_industry_event_words();
      drop table industry_event_word_counts;
      ${WORDS_ROW_BY_ROW}`);
  }
}

/**
 * The words of all records of a statement are written at once, since what is counted once a statement costs little, and
 * once a row of it the square: PostgreSQL looks through all versions that a transaction has made of a row.
 */
const words = (db: QueryRunner): Promise<unknown> =>
  db.query(`
    drop trigger industry_events_words on industry_events;
    drop function index_industry_event();

    -- Records as they are by now, since the same statement, or triggers, may have changed them again. All of it is planned
    -- once, with however few rows there are by then; a million may come to stand in the table, and in a statement. So
    -- each is looked up by its key, in a query of its own, and not joined.
    create function index_industry_events() returns trigger language plpgsql set enable_seqscan = off set jit = off as $$
    begin
      if tg_op <> 'DELETE' then
        insert into industry_event_words as w (created_at, id, words)
          select created_at, id, words from (
            select created_at, id, (
              select words_of_industry_event(e) from industry_events e where e.id = a.id and e.created_at = a.created_at
            ) as words from after a offset 0
          ) a where words is not null
          on conflict (created_at, id) do update set words = excluded.words where w.words <> excluded.words;
      end if;
      if tg_op <> 'INSERT' then -- gone, or to another place
        delete from industry_event_words where ctid = any (array(
          select (select w.ctid from industry_event_words w where w.created_at = b.created_at and w.id = b.id)
          from before b
          where (select e.id from industry_events e where e.id = b.id and e.created_at = b.created_at) is null));
      end if;
      return null;
    end $$;
    -- Behind those of the list in the alphabet, and so after them: first the list's lock, then those of words.
    create trigger industry_events_words_inserted after insert on industry_events
      referencing new table as after for each statement execute function index_industry_events();
    create trigger industry_events_words_updated after update on industry_events
      referencing old table as before new table as after for each statement execute function index_industry_events();
    create trigger industry_events_words_deleted after delete on industry_events
      referencing old table as before for each statement execute function index_industry_events();
  `);

/** What a statement did to the table of words, by the names that its triggers give to what they saw. */
const CHANGES = {
  INSERT: 'select 1 as step, words from after',
  UPDATE: 'select 1 as step, words from after union all select -1, words from before',
  DELETE: 'select -1 as step, words from before',
};

const counts = (db: QueryRunner): Promise<unknown> =>
  db.query(`
    create table industry_event_word_counts (
      word text collate "C" not null constraint industry_event_word_counts_pkey primary key,
      records bigint not null -- that have it; 0 where only others had
    );

    -- Counts how many more records (or fewer: a negative number) have each of these words. 0 is a word that stands in
    -- another place of its records; null is in the place of the words of records that have none.
    create function count_words(changed text[], differences bigint[]) returns void language plpgsql
      set client_min_messages = warning -- PostgreSQL would tell of a table that is there
    as $$
    begin
      -- Totals that servers remember are of another version of the catalogue from now on; and its lock is that of its
      -- words. Once in a transaction, because nobody sees what the version was in between; a savepoint that is rolled
      -- back takes the setting with it, as it does the version.
      if current_setting('lanyard.words', true) is distinct from 'changed' then
        perform count_industry_events_list(0, '', 0, 'infinity');
        perform set_config('lanyard.words', 'changed', true);
      end if;
      if current_setting('lanyard.lists', true) = 'deferred' then
        create temporary table if not exists deferred_words (word text, more bigint) on commit drop;
        insert into deferred_words select * from unnest(changed, differences) c (word, more)
          where more <> 0 and word is not null;
      else
        insert into industry_event_word_counts as w (word, records)
          select * from unnest(changed, differences) c (word, more)
          where more <> 0 and word is not null order by word
          on conflict (word) do update set records = w.records + excluded.records;
      end if;
    end $$;

    create function count_industry_event_words() returns trigger language plpgsql as $$
    declare
      changed text[];
      differences bigint[];
    begin${Object.entries(CHANGES)
      .map(
        ([operation, changes]) => `
      if tg_op = '${operation}' then
        select array_agg(word), array_agg(more) into changed, differences from (
          select word, sum(step) as more from (${changes}) c
            left join unnest(tsvector_to_array(c.words)) word on true group by word -- null: of a record without words
        ) c;
      end if;`,
      )
      .join('')}
      if changed is not null then
        perform count_words(changed, differences);
      end if;
      return null;
    end $$;
    create trigger industry_event_words_inserted after insert on industry_event_words
      referencing new table as after for each statement execute function count_industry_event_words();
    create trigger industry_event_words_updated after update on industry_event_words
      referencing old table as before new table as after for each statement execute function count_industry_event_words();
    create trigger industry_event_words_deleted after delete on industry_event_words
      referencing old table as before for each statement execute function count_industry_event_words();

    -- What an import has noted is counted in its last moment, by settle_lists(): by then it has the catalogue's lock.
    create function settle_words() returns void language plpgsql as $$
    begin
      if to_regclass('pg_temp.deferred_words') is not null then
        perform count_words(array_agg(word), array_agg(more)) from (
          select word, sum(more)::bigint as more from deferred_words group by word
        ) changed;
        drop table deferred_words;
      end if;
    end $$;

    -- The words of which it is not as kept how many records have them.
    create function check_industry_event_words() returns setof text language sql as $$
      select word from ts_stat('select words from industry_event_words') s full join industry_event_word_counts w using (word)
      where coalesce(s.ndoc, 0) <> coalesce(w.records, 0)
    $$;

    create function recount_industry_event_words() returns void language plpgsql as $$
    begin
      perform count_words('{}', '{}'); -- takes the lock
      delete from industry_event_word_counts;
      insert into industry_event_word_counts (word, records)
        select word, ndoc from ts_stat('select words from industry_event_words');
    end $$;
    select recount_industry_event_words();
    analyze industry_event_word_counts;
  `);

const ANY_FIRST_SEARCH = `
      if total is null then
        few := array(`;
const WORD_FIRST = `
      -- How many records have a word is kept.
      if total is null and numnode(query) = 1 then
        total := coalesce((
          select records from industry_event_word_counts
          where word = (tsvector_to_array(query::text::tsvector))[1]), 0);
      end if;
      if total is null or total <= 2000 then
        few := array(`;

/** The search as it is, but for how a first one begins. */
const searchWith = (before: string, after: string): string => `
  do $do$ begin
    execute replace(pg_get_functiondef('search_industry_events(text, integer, bigint, text)'::regprocedure),
      $before$${before}$before$, $after$${after}$after$);
  end $do$;`;

const WORDS_ROW_BY_ROW = `
  create function index_industry_event() returns trigger language plpgsql as $$
  begin
    if tg_op <> 'INSERT' then
      delete from industry_event_words where created_at = old.created_at and id = old.id;
    end if;
    if tg_op <> 'DELETE' then
      insert into industry_event_words (created_at, id, words)
        values (new.created_at, new.id, words_of_industry_event(new));
    end if;
    -- As an insert and a delete do, so that the list's row is another one whenever the words are others.
    if tg_op = 'UPDATE' and current_setting('lanyard.words', true) is distinct from 'changed' then
      perform count_industry_events_list(0, '', 0, 'infinity');
      perform set_config('lanyard.words', 'changed', true);
    end if;
    return null;
  end $$;
  create trigger industry_events_words after insert or delete or update of id, created_at, name, venue_city,
    venue_state, venue_country, keywords, exhibitor_industries, attendee_personas, description on industry_events
    for each row execute function index_industry_event();`;
