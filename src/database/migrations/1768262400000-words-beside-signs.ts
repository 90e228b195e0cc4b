import { MigrationInterface, QueryRunner } from 'typeorm';

/** Between two readings of a text: so many stop words as nobody puts into a phrase. */
const MANY = 'the '.repeat(12);

/**
 * Quotes, dashes and other signs, and spaces, that are no ASCII. Where the database's locale is C, as it is of the embedded
 * PostgreSQL, all of them are letters to its parser.
 */
const TYPOGRAPHIC =
  '‘’‚‛“”„‟‹›«»‐‑‒–—―…•©®™¡¿、。，．：；！？（）「」『』【】\u00a0\u2002\u2003\u2009\u200b\u202f\u3000';
/** PostgreSQL takes '<webdev>' and '&D;' for markup and drops them. These texts are none. */
const NO_WORDS = `<>&${TYPOGRAPHIC}`;
const blanks = (signs: string): string => ' '.repeat(signs.length);

/** What servers of the release before write meanwhile would keep its words as they were: they wait. */
const ALONE = 'lock table industry_events in share row exclusive mode';

/** No sign hides words, as PostgreSQL's tags and entities did; and only whole words of a query are its operators. */
export class WordsBesideSigns1768262400000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(ALONE);
    await texts(db);
    await queries(db);
    await rewrite(db);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(ALONE);
    await db.query(`
      create or replace function words_of(value text) returns tsvector language sql stable parallel safe as $$
        select to_tsvector('lanyard', value) || case when value ~ '\\S[._/@:]\\S|[-+]\\d'
          then to_tsvector('lanyard', '${MANY}' || parts_of(value)) else '' end
      $$;
      create or replace function parts_of(value text) returns text language sql immutable parallel safe as $$
        select regexp_replace(translate(value, '._/@:', '     '), '[-+](?=\\d)', ' ', 'g')
      $$;
      create or replace function query_of(q text) returns tsquery language sql stable parallel safe as $$
        select case when q ~ '\\S[._/@:]\\S|\\w[-+]\\d' and q !~ '(^|\\s)-'
          then websearch_to_tsquery('lanyard', q) || websearch_to_tsquery('lanyard', parts_of(q))
          else websearch_to_tsquery('lanyard', q) end
      $$;
      drop function query_with_signs(text), all_words_of(text, boolean), plain(text);
    `);
    await rewrite(db);
  }
}

const texts = (db: QueryRunner): Promise<unknown> =>
  db.query(`
    -- 'AT&T' becomes 'AT-T', which is a word although its halves are stop words.
    create or replace function parts_of(value text) returns text language sql immutable parallel safe as $$
      select regexp_replace(
        translate(regexp_replace(value, '(\\w)&(?=\\w)', '\\1-', 'g'), '._/@:${NO_WORDS}', '${blanks(`._/@:${NO_WORDS}`)}'),
        '[-+](?=\\d)', ' ', 'g')
    $$;
    create function plain(value text) returns text language sql immutable parallel safe as $$
      select translate(value, '${NO_WORDS}', '${blanks(NO_WORDS)}')
    $$;
    create or replace function words_of(value text) returns tsvector language sql stable parallel safe as $$
      select to_tsvector('lanyard', plain(value)) || case when value ~ '\\S[._/@:]\\S|[-+]\\d|\\w&\\w'
        then to_tsvector('lanyard', '${MANY}' || parts_of(value)) else '' end
    $$;
  `);

const queries = (db: QueryRunner): Promise<unknown> =>
  db.query(`
    create function all_words_of(value text, in_order boolean) returns tsquery language sql stable parallel safe as $$
      select case when in_order then phraseto_tsquery('lanyard', value) else plainto_tsquery('lanyard', value) end
    $$;
    -- As websearch_to_tsquery; but each word is also read in parts, and no part becomes an operator. It is put together
    -- as text, which takes the longest query half a second; with && and || it takes several.
    create function query_with_signs(q text) returns tsquery language plpgsql stable parallel safe
      set client_min_messages = warning -- PostgreSQL would tell of each stop word
    as $$
    declare
      token text[]; -- dashes, perhaps with brackets; a word, or a phrase in its quotes
      in_order boolean;
      whole tsquery;
      term tsquery;
      operator text;
      query text;
    begin
      for token in select regexp_matches(q, '([-(]*)("[^"]*"?|[^\\s"]+)', 'g') loop
        if token[1] = '' and lower(token[2]) = 'or' then
          operator := ' | ';
          continue;
        end if;
        in_order := token[2] like '"%';
        whole := all_words_of(plain(token[2]), in_order);
        term := all_words_of(parts_of(token[2]), in_order);
        -- 'R&D' finds 'R & D'. But 'A&E' would find each 'E', because 'A' is a stop word.
        if whole <> term and not (token[2] ~ '\\w&\\w'
          and numnode(whole) < numnode(plainto_tsquery('simple', plain(token[2])))) then
          term := whole || term;
        end if;
        if numnode(term) > 0 then
          query := coalesce(query || operator, '') ||
            case when length(replace(token[1], '(', '')) % 2 = 1 then '!' else '' end || '(' || term::text || ')';
          operator := ' & ';
        end if;
      end loop;
      return coalesce(query, '')::tsquery;
    end $$;
    -- Words and phrases alone are the same in both, and PostgreSQL's own is the faster one.
    create or replace function query_of(q text) returns tsquery language sql stable parallel safe as $$
      select case when q ~ '[^\\w\\s"]|_' then query_with_signs(q) else websearch_to_tsquery('lanyard', q) end
    $$;
  `);

/** Only texts with these signs have other words. */
const rewrite = async (db: QueryRunner): Promise<void> => {
  await db.query(`
    update industry_event_words w set words = words_of_industry_event(e) from industry_events e
    where e.created_at = w.created_at and e.id = w.id and e::text ~ '[${NO_WORDS}]'
      and w.words is distinct from words_of_industry_event(e)`);
  // Totals that servers remember are of another version of the catalogue from now on.
  await db.query(`select count_industry_events_list(0, '', 0, 'infinity')`);
};
