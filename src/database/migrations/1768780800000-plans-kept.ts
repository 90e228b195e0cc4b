import { MigrationInterface, QueryRunner } from 'typeorm';

/** Between two readings of a text: so many stop words as nobody puts into a phrase. */
const MANY = 'the '.repeat(12);

/** Signs that make one word of what they join, to PostgreSQL. */
const JOINING = '._/@:-+';

const ASCII_SIGNS = '<>&';
/** Signs that are no words and no ASCII: which, the migration of words beside signs tells. */
const SIGNS = '<>&‘’‚‛“”„‟‹›«»‐‑‒–—―…•©®™¡¿、。，．：；！？（）「」『』【】\u00a0\u2002\u2003\u2009\u200b\u202f\u3000';
const PARTING = '._/@:';

/** The text with blanks in the place of signs. PostgreSQL compares each of its characters with each sign. */
const blank = (text: string, parting = ''): string => `translate(${text},
  case when octet_length(value) = length(value) then '${parting}${ASCII_SIGNS}' else '${parting}${SIGNS}' end,
  '${' '.repeat(parting.length + SIGNS.length)}')`;

/**
 * Functions that every search and every change of the catalogue calls. PostgreSQL plans a query within a function in SQL
 * anew for each statement that calls it, and for each row where another such function does; in PL/pgSQL, once a
 * connection. And most texts are ASCII, which need not be compared with signs that are none.
 */
export class PlansKept1768780800000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create or replace function without_signs(value text) returns text language sql immutable parallel safe as $$
        select ${blank('value')}
      $$;
      create or replace function parts_of(value text) returns text language sql immutable parallel safe as $$
        select regexp_replace(${blank(`regexp_replace(value, '(\\w)&(?=\\w)', '\\1-', 'g')`, PARTING)}, '[-+](?=\\d)', ' ', 'g')
      $$;

      create or replace function plain(value text) returns text language plpgsql immutable parallel safe as $$
      begin
        if length(value) >= 200 and value ~ '\\S{200}' then
          value := (
            select string_agg(
              case when length(run) >= 200 then translate(run, '${JOINING}', '${' '.repeat(JOINING.length)}') else run end,
              ' ' order by place)
            from regexp_split_to_table(value, '\\s+') with ordinality runs (run, place));
        end if;
        return without_signs(value);
      end $$;

      create or replace function words_of(value text) returns tsvector language plpgsql stable parallel safe as $$
      declare
        written constant text := one_spelling(value);
        words constant tsvector := to_tsvector('lanyard', plain(written));
      begin
        if written ~ '\\S[._/@:]\\S|[-+]\\d|\\w&\\w' then
          return words || to_tsvector('lanyard', '${MANY}' || parts_of(written));
        end if;
        return words;
      end $$;

      create or replace function words_of_industry_event(event industry_events) returns tsvector
      language plpgsql stable parallel safe as $$
      begin
        return setweight(words_of(event.name), 'A') ||
          setweight(words_of(concat_ws(' ${MANY}', '', event.venue_city, event.venue_state, event.venue_country,
            array_to_string(event.keywords, ' ${MANY}'), array_to_string(event.exhibitor_industries, ' ${MANY}'),
            array_to_string(event.attendee_personas, ' ${MANY}'))), 'B') ||
          setweight(words_of(concat('${MANY}', event.description)), 'D');
      end $$;

      create or replace function query_of(q text) returns tsquery language plpgsql stable parallel safe as $$
      declare
        written constant text := one_spelling(q);
      begin
        if written ~ '[^\\w\\s"]|_' then
          return query_with_signs(
            case when written like '%"%' then written else translate(written, '“”„‟«»', '""""""') end);
        end if;
        return websearch_to_tsquery('lanyard', written);
      end $$;
    `);
  }

  /** They stay: what they return is what those before did. */
  async down(): Promise<void> {}
}
