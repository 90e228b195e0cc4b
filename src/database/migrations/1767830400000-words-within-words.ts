import { MigrationInterface, QueryRunner } from 'typeorm';

const FUNCTION = 'search_industry_events(text, integer, bigint, text)';
const AS_WRITTEN = `websearch_to_tsquery(''lanyard'', q)`;

/** What servers of the release before write meanwhile would keep its words as they were: they wait. */
const ALONE = 'lock table industry_events in share row exclusive mode';

/** Words beside signs are found in all fields, and phrases end with the value that they stand in. */
export class WordsWithinWords1767830400000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(ALONE);
    await db.query(`
      create function parts_of(value text) returns text language sql immutable parallel safe as $$
        select regexp_replace(translate(value, '._/@:', '     '), '[-+](?=\\d)', ' ', 'g')
      $$;
      -- PostgreSQL reads 'Node.js' as a host, 'AI/ML' as a file and '-2026' of 'Expo-2026' as a number below zero; a person
      -- looks for the parts. The stop word keeps phrases from going on from one reading to the other.
      create or replace function words_of(value text) returns tsvector language sql stable parallel safe as $$
        select to_tsvector('lanyard', value) || case when value ~ '\\S[._/@:]\\S|[-+]\\d'
          then to_tsvector('lanyard', 'the ' || parts_of(value)) else '' end
      $$;
      create or replace function words_of_industry_event(event industry_events) returns tsvector
        language sql stable parallel safe as $$
          select setweight(words_of(event.name), 'A') ||
            setweight(words_of(concat_ws(' the ', '', event.venue_city, event.venue_state, event.venue_country,
              array_to_string(event.keywords, ' the '), array_to_string(event.exhibitor_industries, ' the '),
              array_to_string(event.attendee_personas, ' the '))), 'B') ||
            setweight(words_of(concat('the ', event.description)), 'D')
        $$;

      -- 'Expo-2026' and 'Expo 2026' find each other. Not where '-word' excludes: its parts would not.
      create function query_of(q text) returns tsquery language sql stable parallel safe as $$
        select case when q ~ '\\S[._/@:]\\S|\\w[-+]\\d' and q !~ '(^|\\s)-'
          then websearch_to_tsquery('lanyard', q) || websearch_to_tsquery('lanyard', parts_of(q))
          else websearch_to_tsquery('lanyard', q) end
      $$;
      ${replacedIn(AS_WRITTEN, 'query_of(q)')}
    `);
    await rewrite(db);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(ALONE);
    await db.query(`
      ${replacedIn('query_of(q)', AS_WRITTEN)}
      drop function query_of(text);
      create or replace function words_of(value text) returns tsvector language sql stable parallel safe as $$
        select to_tsvector('lanyard', value) || case when value ~ '[._/@:]'
          then to_tsvector('lanyard', translate(value, '._/@:', '     ')) else '' end
      $$;
      drop function parts_of(text);
      create or replace function words_of_industry_event(event industry_events) returns tsvector
        language sql stable parallel safe as $$
          select setweight(words_of(event.name), 'A') ||
            setweight(words_of(concat_ws(' ', event.venue_city, event.venue_state, event.venue_country,
              array_to_string(event.keywords, ' '), array_to_string(event.exhibitor_industries, ' '),
              array_to_string(event.attendee_personas, ' '))), 'B') ||
            setweight(to_tsvector('lanyard', coalesce(event.description, '')), 'D')
        $$;
    `);
    await rewrite(db);
  }
}

/** The search as it is, but for one expression. */
const replacedIn = (before: string, after: string): string => `
  do $do$ begin
    execute replace(pg_get_functiondef('${FUNCTION}'::regprocedure), '${before}', '${after}');
  end $do$;`;

const rewrite = async (db: QueryRunner): Promise<void> => {
  await db.query(`
    update industry_event_words w set words = words_of_industry_event(e) from industry_events e
    where e.created_at = w.created_at and e.id = w.id and w.words is distinct from words_of_industry_event(e)`);
  // Totals that servers remember are of another version of the catalogue from now on.
  await db.query(`select count_industry_events_list(0, '', 0, 'infinity')`);
};
