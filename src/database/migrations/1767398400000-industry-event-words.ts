import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The words of the catalogue move into a narrow table of their own, in three tiers; docs/decisions/0008 says why. */
export class IndustryEventWords1767398400000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('drop trigger industry_events_search on industry_events; drop function index_industry_event()');
    await db.query('alter table industry_events drop column search');
    await words(db);
    await search(db);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      drop trigger industry_events_words on industry_events;
      drop function search_industry_events(text, integer, bigint),
        industry_events_matching(integer, tsquery, boolean), index_industry_event(),
        words_of_industry_event(industry_events);
      drop table industry_event_words;
    `);
    await searchInTheRow(db);
  }
}

const words = (db: QueryRunner): Promise<unknown> =>
  db.query(`
    create table industry_event_words (
      created_at timestamptz(3) not null,
      id uuid not null,
      name_words tsvector not null,
      heading_words tsvector not null, -- of the name, the venue, the keywords, industries and personas
      all_words tsvector not null, -- of these and the description
      -- PostgreSQL moves values out of line in rows above 2 kB only. With 2 kB of spaces, compressed to 30 bytes, every
      -- row is such a one, so that its vectors are elsewhere and a page holds 70 rows: to count is to visit rows.
      filler text not null default repeat(' ', 2048),
      constraint industry_event_words_pkey primary key (created_at, id)
    ) with (toast_tuple_target = 128);
    alter table industry_event_words
      alter name_words set storage external,
      alter heading_words set storage external,
      alter all_words set storage external;

    create function words_of_industry_event(
      event industry_events, out name_words tsvector, out heading_words tsvector, out all_words tsvector
    ) language plpgsql stable parallel safe as $$
    begin
      name_words := words_of(event.name);
      heading_words := name_words || words_of(concat_ws(' ', event.venue_city, event.venue_state, event.venue_country,
        array_to_string(event.keywords, ' '), array_to_string(event.exhibitor_industries, ' '),
        array_to_string(event.attendee_personas, ' ')));
      all_words := heading_words || to_tsvector('lanyard', coalesce(event.description, ''));
    end $$;

    create function index_industry_event() returns trigger language plpgsql as $$
    begin
      if tg_op <> 'INSERT' then
        delete from industry_event_words where created_at = old.created_at and id = old.id;
      end if;
      if tg_op <> 'DELETE' then
        insert into industry_event_words (created_at, id, name_words, heading_words, all_words)
          select new.created_at, new.id, w.* from words_of_industry_event(new) w;
      end if;
      return null;
    end $$;
    create trigger industry_events_words after insert or delete or update of id, created_at, name, venue_city,
      venue_state, venue_country, keywords, exhibitor_industries, attendee_personas, description on industry_events
      for each row execute function index_industry_event();

    insert into industry_event_words (created_at, id, name_words, heading_words, all_words)
      select e.created_at, e.id, w.* from industry_events e, words_of_industry_event(e) w order by e.created_at, e.id;
    create index industry_event_words_idx on industry_event_words using gin (name_words, heading_words, all_words);
    analyze industry_event_words;
  `);

const search = (db: QueryRunner): Promise<unknown> =>
  db.query(`
    -- What matches in the name (tier 1), in the heading (2), anywhere (3). The planner puts this in the place of a call.
    create function industry_events_matching(tier integer, query tsquery, negated boolean)
      returns setof industry_event_words language sql stable as $$
        select * from industry_event_words
          where tier = 1 and name_words @@ query and (not negated or all_words @@ query)
        union all select * from industry_event_words
          where tier = 2 and heading_words @@ query and (not negated or all_words @@ query)
        union all select * from industry_event_words where tier = 3 and all_words @@ query
        offset 0 -- keeps the planner from walking through the whole table in the order of creation
      $$;

    -- A page of what matches: first the records with all words in the name, then those with all in the heading, then
    -- the rest; each tier in the order of creation. 'page_index' counts from 0.
    create function search_industry_events(
      q text, page_size integer, page_index bigint, out total bigint, out ids uuid[]
    ) language plpgsql stable set jit = off as $$
    declare
      query constant tsquery := websearch_to_tsquery('lanyard', q);
      -- A name without a word that must not occur says nothing about the rest of its record.
      negated constant boolean := query::text like '%!%';
      skipped constant bigint := page_size * page_index;
      missing bigint := page_size;
      found uuid[] := '{}';
      more uuid[];
    begin
      select count(*) into total from industry_events_matching(3, query, negated);
      for tier in 1..3 loop
        missing := skipped + page_size - cardinality(found);
        exit when missing <= 0 or skipped >= total;
        more := '{}';
        -- What many records match, enough of the oldest match: no need to visit and to sort all of them.
        if (select count(*) from (select from industry_events_matching(tier, query, negated) limit 2000) m) = 2000 then
          more := array(
            select id from (select * from industry_event_words order by created_at, id limit 1000) oldest
            where case tier when 1 then name_words when 2 then heading_words else all_words end @@ query
              and (not negated or all_words @@ query)
              and not exists (select from unnest(found) f(id) where f.id = oldest.id)
            order by created_at, id limit missing);
        end if;
        if cardinality(more) < missing then
          more := array(
            select id from industry_events_matching(tier, query, negated) matching
            where not exists (select from unnest(found) f(id) where f.id = matching.id)
            order by created_at, id limit missing);
        end if;
        found := found || more;
      end loop;
      ids := found[skipped + 1:];
    end $$;
  `);

/** As the initial schema has it. */
const searchInTheRow = (db: QueryRunner): Promise<unknown> =>
  db.query(`
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

    alter table industry_events add column search tsvector;
    update industry_events set id = id;
    alter table industry_events alter search set not null;
    create index industry_events_search_idx on industry_events using gin (search);
  `);
