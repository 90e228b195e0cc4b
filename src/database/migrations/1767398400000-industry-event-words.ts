import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The words of the catalogue move into a narrow table of their own; docs/decisions/0008-search.md says why. */
export class IndustryEventWords1767398400000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await words(db);
    await search(db);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      drop trigger industry_events_words on industry_events;
      drop function search_industry_events(text, integer, bigint, text),
        industry_events_matching(integer, tsquery, boolean), index_industry_event(),
        words_of_industry_event(industry_events);
    `);
    await searchInTheRow(db);
    await db.query('drop table industry_event_words');
  }
}

const words = (db: QueryRunner): Promise<unknown> =>
  db.query(`
    create table industry_event_words (
      created_at timestamptz(3) not null,
      id uuid not null,
      words tsvector not null, -- A: of the name; B: of the venue, keywords, industries and personas; D: the description
      -- Only in rows above 2 kB does PostgreSQL move values out of line. With these spaces, which are compressed to some
      -- 40 bytes, every row is one. So its vector is elsewhere, a page holds 75 rows, and counting visits few pages.
      filler text not null default repeat(' ', 2048),
      constraint industry_event_words_pkey primary key (created_at, id)
    ) with (toast_tuple_target = 128);
    alter table industry_event_words alter words set storage external;

    insert into industry_event_words (created_at, id, words)
      select created_at, id, search from industry_events order by created_at, id;
    create index industry_event_words_idx on industry_event_words
      using gin (ts_filter(words, '{a}'), ts_filter(words, '{a,b}'), words)
      with (gin_pending_list_limit = 256); -- kB, which every search reads through
    analyze industry_event_words;

    drop trigger industry_events_search on industry_events;
    drop function index_industry_event();
    alter table industry_events drop column search;

    create function words_of_industry_event(event industry_events) returns tsvector
      language sql stable parallel safe as $$
        select setweight(words_of(event.name), 'A') ||
          setweight(words_of(concat_ws(' ', event.venue_city, event.venue_state, event.venue_country,
            array_to_string(event.keywords, ' '), array_to_string(event.exhibitor_industries, ' '),
            array_to_string(event.attendee_personas, ' '))), 'B') ||
          setweight(to_tsvector('lanyard', coalesce(event.description, '')), 'D')
      $$;

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
      if tg_op = 'UPDATE' then
        perform count_industry_events_list(0, '', 0, 'infinity');
      end if;
      return null;
    end $$;
    create trigger industry_events_words after insert or delete or update of id, created_at, name, venue_city,
      venue_state, venue_country, keywords, exhibitor_industries, attendee_personas, description on industry_events
      for each row execute function index_industry_event();
  `);

const search = (db: QueryRunner): Promise<unknown> =>
  db.query(`
    -- What matches in the name (tier 1), in the name, venue, keywords, industries and personas (2), anywhere (3).
    -- The planner puts this in the place of a call.
    create function industry_events_matching(tier integer, query tsquery, negated boolean)
      returns setof industry_event_words language sql stable as $$
        select * from industry_event_words where tier = 1 and not negated and ts_filter(words, '{a}') @@ query
        union all select * from industry_event_words where tier = 2 and not negated and ts_filter(words, '{a,b}') @@ query
        -- A name without a word that must not occur says nothing about the rest of its record.
        union all select * from industry_event_words
          where tier = 1 and negated and ts_filter(words, '{a}') @@ query and words @@ query
        union all select * from industry_event_words
          where tier = 2 and negated and ts_filter(words, '{a,b}') @@ query and words @@ query
        union all select * from industry_event_words where tier = 3 and words @@ query
        offset 0 -- keeps the planner from walking through the whole table in the order of creation
      $$;

    -- A page of what matches: first the records with all words in tier 1, then those with all in tier 2, then the rest;
    -- each tier in the order of creation. 'page_index' counts from 0. When many match, 'known' comes back as what to pass
    -- when the same is searched again: the total, which is not counted anew while the catalogue is the same.
    -- Without effective_io_concurrency, because looking whether a page is to be fetched ahead costs a fifth of a count
    -- over pages that are in memory.
    create function search_industry_events(
      q text, page_size integer, page_index bigint, inout known text default null, out total bigint, out ids uuid[]
    ) language plpgsql stable set jit = off set effective_io_concurrency = 0 as $$
    declare
      -- Every change of the catalogue's words makes another version of this row, in the same transaction.
      catalogue constant text := (select xmin || ' ' || ctid from lists
        where name = 'industry_events' and organization_id = 0 and parent = '');
      query constant tsquery := websearch_to_tsquery('lanyard', q);
      negated constant boolean := query::text like '%!%';
      skipped constant bigint := page_size * page_index;
      missing bigint;
      few uuid[]; -- all matches, when there are 2,000 at most
      oldest uuid[]; -- else the matches among the 1,000 oldest records, and their tiers
      tiers integer[];
      matching uuid[];
      found uuid[] := '{}';
    begin
      if split_part(known, ' of ', 2) = catalogue then
        total := split_part(known, ' of ', 1);
      end if;
      if total is null then
        few := array(
          select id from (select created_at, id from industry_events_matching(3, query, negated) limit 2001) m
          order by created_at, id);
        total := cardinality(few);
        if total > 2000 then
          select count(*) into total from industry_events_matching(3, query, negated);
        end if;
      end if;
      known := null;
      if total > 2000 then
        known := total || ' of ' || catalogue;
        select array_agg(id order by created_at, id), array_agg(
            case when ts_filter(words, '{a}') @@ query then 1 when ts_filter(words, '{a,b}') @@ query then 2 else 3 end
            order by created_at, id)
          into oldest, tiers
          from (select * from industry_event_words order by created_at, id limit 1000) w where words @@ query;
      end if;
      ids := '{}';
      if skipped >= total then
        return;
      end if;
      for tier in 1..3 loop
        missing := skipped + page_size - cardinality(found);
        exit when missing <= 0;
        -- Of what many records have, the oldest have enough: no need to visit and to sort all that match.
        matching := array(
          select m.id from unnest(oldest, tiers) with ordinality m(id, its_tier, position)
          where its_tier = tier order by position limit missing);
        if cardinality(matching) < missing and tier = 3 and total <= 2000 then
          matching := array(
            select id from unnest(few) with ordinality m(id, position)
            where not exists (select from unnest(found) f(id) where f.id = m.id) order by position limit missing);
        elsif cardinality(matching) < missing then
          matching := array(
            select id from industry_events_matching(tier, query, negated) m
            where not exists (select from unnest(found) f(id) where f.id = m.id)
            order by created_at, id limit missing);
        end if;
        found := found || matching;
      end loop;
      ids := found[skipped + 1:];
    end $$;
  `);

/** As the initial schema has it. */
const searchInTheRow = (db: QueryRunner): Promise<unknown> =>
  db.query(`
    alter table industry_events add column search tsvector;
    update industry_events e set search = w.words from industry_event_words w
      where w.created_at = e.created_at and w.id = e.id;
    alter table industry_events alter search set not null;
    create index industry_events_search_idx on industry_events using gin (search);

    create function index_industry_event() returns trigger language plpgsql as $$
    begin
      new.search :=
        setweight(words_of(new.name), 'A') ||
        setweight(words_of(concat_ws(' ', new.venue_city, new.venue_state, new.venue_country,
          array_to_string(new.keywords, ' '), array_to_string(new.exhibitor_industries, ' '),
          array_to_string(new.attendee_personas, ' '))), 'B') ||
        setweight(to_tsvector('lanyard', coalesce(new.description, '')), 'D');
      return new;
    end $$;
    create trigger industry_events_search before insert or update on industry_events
      for each row execute function index_industry_event();
  `);
