import { SIGNS } from '../../data/schema/signs';

/** The key of the index that makes `eventUrl` unique. */
export const EVENT_URL_FUNCTIONS = `
-- A btree entry holds 2,704 bytes, and an eventUrl of 2,048 characters may be longer, so its SHA-256 is what is unique.
-- convert_to is only stable because conversions can be redefined; from UTF8 to UTF8 there is none.
create or replace function event_url_digest(url text) returns bytea language sql immutable strict parallel safe as $$
  select sha256(convert_to(url, 'UTF8'))
$$;
`;

/**
 * The words of the catalog's search (docs/decisions/0008). search-query.ts splits queries in the same way. String.raw keeps
 * the escapes for PostgreSQL.
 */
export const SEARCH_FUNCTIONS = String.raw`
-- One spelling of what people write in several: composed letters (NFC), the sigma at the end of a word, alefs with their
-- marks, and no vowels of Arabic and Hebrew, which most texts leave out. Case and accents are the configuration's work.
-- normalize() takes quadratic time over a run of combining marks and hears of no timeout: 65,000 took 15 s. So U+001F,
-- which no word has, parts runs of characters beyond Latin after each hundred.
create or replace function search_spelling(value text) returns text language sql immutable parallel safe as $$
  select case when octet_length(value) = length(value) then value
    else regexp_replace(translate(normalize(regexp_replace(value, '([^\u0001-\u02ff]{100})', E'\\1\x1f', 'g')),
      E'ςأإآٱ\x1f', 'σاااا'), '[\u064b-\u0652\u0670\u0640\u05b0-\u05bc\u05c1\u05c2]', '', 'g') end
$$;

-- A blank in the place of each character that is no letter, mark or digit. In a database whose LC_CTYPE is C, as the
-- embedded one is, PostgreSQL takes all characters beyond ASCII for letters: so signs are listed here. (Those of scripts
-- that few write are missing.) U+001E separates two values.
create or replace function search_text(value text) returns text language plpgsql immutable parallel safe as $$
begin
  value := regexp_replace(value, '[\u0001-\u001d\u001f-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007f]+', ' ', 'g');
  if octet_length(value) > length(value) then
    value := search_spelling(regexp_replace(value, '['
      ${SIGNS}
      ']+', ' ', 'g'));
  end if;
  return replace(value, E'\x1e', ' <x> ');
end $$;

-- The words of a record, with the weights A, B and D. '<x>' is not a word of any text, and is deleted in the end.
create or replace function search_vector(name text, facts text[], description text) returns tsvector
language plpgsql immutable parallel safe as $$
begin
  return ts_delete(
    setweight(to_tsvector('search', search_text(name || E'\x1e')), 'A') ||
    setweight(to_tsvector('search', search_text(array_to_string(facts, E'\x1e') || E'\x1e')), 'B') ||
    setweight(to_tsvector('search', search_text(coalesce(description, ''))), 'D'),
    '<x>');
end $$;

-- The words that a record should have.
create or replace function search_vector(event industry_events) returns tsvector language sql stable as $$
  select search_vector(event.name, array[event.venue_city, event.venue_state, event.venue_country] || event.keywords
    || event.exhibitor_industries || event.attendee_personas, event.description)
$$;

-- Before insert, and before update of what is searched, for each row. Before the row takes its place in the list, which
-- locks the list for everybody else.
create or replace function set_search() returns trigger language plpgsql as $$
begin
  new.search := search_vector(new);
  return new;
end $$;

create trigger t05_search before insert or update of search, name, venue_city, venue_state, venue_country, keywords,
  exhibitor_industries, attendee_personas, description on industry_events
  for each row execute function set_search();
`;
