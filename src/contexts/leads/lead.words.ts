import { INSERTS_DERIVED_COLUMNS } from '../../data/schema/derived';
import { SIGNS } from '../../data/schema/signs';
import { MAX_LENGTH } from '../../fields/fields';

/** Letters with a stroke or without their dot, which Unicode does not decompose, and the other form of sigma. */
const STROKED_LETTERS = 'øłđħŧıς';
const PLAIN_LETTERS = 'oldhtiσ';

/** Apostrophes that phones and programs type in place of the straight one. */
const CURLY_APOSTROPHES = '‘’ʼ';
const STRAIGHT_APOSTROPHES = "''''''";

/** SQL of the words of a row of leads. */
export const leadWords = (row: string): string =>
  `lead_words(${row}.organization_id, ${row}.first_name, ${row}.last_name, ${row}.company_name, ${row}.email)`;

const SEARCHED_COLUMNS = ['words', 'first_name', 'last_name', 'company_name', 'email'];
const searchedColumns = (row: string): string => SEARCHED_COLUMNS.map((column) => `${row}.${column}`).join(', ');

/**
 * The words by which `q` finds leads. One index holds those of all organizations, so each word begins with its organization,
 * and a search reads the words of its own alone. String.raw keeps the escapes for PostgreSQL.
 */
export const LEAD_WORD_FUNCTIONS = String.raw`
-- A text without letter case and accents. normalize() takes quadratic time over a run of combining marks and hears of no
-- timeout, so it gets only what the longest field may hold: less than a millisecond.
create or replace function lead_spelling(value text) returns text language plpgsql immutable parallel safe as $$
begin
  if octet_length(value) = length(value) then
    return lower(left(value, ${MAX_LENGTH.name}));
  end if;
  value := regexp_replace(normalize(left(value, ${MAX_LENGTH.name}), nfd),
    '[\u0300-\u036f\u05b0-\u05bc\u05c1\u05c2\u0640\u064b-\u065f\u0670]', '', 'g');
  value := translate(lower(value), '${STROKED_LETTERS}${CURLY_APOSTROPHES}', '${PLAIN_LETTERS}${STRAIGHT_APOSTROPHES}');
  return replace(normalize(value), 'ß', 'ss');
end $$;

-- A blank in the place of each character that is no letter, mark, digit or apostrophe. Where all are ASCII, the short
-- expression takes a fifth of the time of the other.
create or replace function lead_word_breaks(value text) returns text language plpgsql immutable parallel safe as $$
begin
  if octet_length(value) = length(value) then
    return regexp_replace(value, '[^a-z0-9'']', ' ', 'g');
  end if;
  return regexp_replace(value, '[\u0001-\u0026\u0028-\u002f\u003a-\u0060\u007b-\u007f'
    ${SIGNS}
    ']', ' ', 'g');
end $$;

create or replace function lead_words(org integer, first_name text, last_name text, company_name text, email text)
returns tsvector language plpgsql immutable parallel safe as $$
declare
  own constant text := org || ' ';
  names constant text := lead_word_breaks(concat_ws(' ',
    lead_spelling(first_name), lead_spelling(last_name), lead_spelling(company_name)));
  address constant text := coalesce(lead_spelling(email), '');
  parts constant text := replace(lead_word_breaks(address), '''', ' ');
  words text[] := string_to_array(own || replace(names, ' ', E'\x01' || own), E'\x01') || (own || address);
  start integer := 1;
  length integer;
begin
  if strpos(names, '''') > 0 then
    words := words || string_to_array(own || replace(replace(names, '''', ' '), ' ', E'\x01' || own), E'\x01');
  end if;
  -- An address is a word from each of its parts on, so a search by one of the parts finds it, too.
  loop
    length := strpos(substr(parts, start), ' ');
    if length <> 1 then
      words := words || (own || substr(address, start));
    end if;
    exit when length = 0;
    start := start + length;
  end loop;
  return array_to_tsvector(array_remove(words, own));
end $$;

-- The query for the leads in which each of the words is the beginning of a word.
create or replace function lead_word_query(org integer, words text[]) returns tsquery
language sql immutable parallel safe as $$
  select string_agg('''' || replace(replace(word, '\', '\\'), '''', '''''') || ''':*', ' & ')::tsquery
  from (select distinct org || ' ' || lead_spelling(word) as word from unnest(words) word) spelled
$$;

-- Before insert or update of leads, for each row. An import inserts leads that its statement has the words of; that of an
-- older release has none.
create or replace function set_lead_words() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' or new.words = '' or current_setting('${INSERTS_DERIVED_COLUMNS}', true) is distinct from 'on' then
    new.words := ${leadWords('new')};
  end if;
  return new;
end $$;

create trigger t05_words_inserted before insert on leads for each row execute function set_lead_words();
create trigger t05_words_updated before update on leads for each row
  when ((${searchedColumns('old')}) is distinct from (${searchedColumns('new')})) execute function set_lead_words();
`;
