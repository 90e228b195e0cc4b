import { changeTriggers } from '../../data/schema/functions';
import { SIGNS } from '../../data/schema/signs';
import { MAX_LENGTH } from '../../fields/fields';

/** Letters with a stroke or without their dot, which Unicode does not decompose, and the other form of sigma. */
const STROKED_LETTERS = 'øłđħŧıς';
const PLAIN_LETTERS = 'oldhtiσ';

/** Apostrophes that phones and programs type in place of the straight one. */
const CURLY_APOSTROPHES = '‘’ʼ';
const STRAIGHT_APOSTROPHES = "''''''";

/** The inside of a bracket expression: each character that is no letter, mark or digit. */
const BREAKS = String.raw`\u0001-\u002f\u003a-\u0060\u007b-\u007f'
    ${SIGNS}
    '`;

const SEARCHED_COLUMNS = ['first_name', 'last_name', 'company_name', 'email'];
const columnsOf = (row: string): string => SEARCHED_COLUMNS.map((column) => `${row}.${column}`).join(', ');

/** SQL of the words of a row of leads. */
export const leadWords = (row: string): string => `words_of_lead(${row}.organization_id, ${columnsOf(row)})`;

/** SQL of the text in which the words of a lead are searched. @param row the name of the row and a dot, or nothing */
export const leadText = (row: string): string =>
  `lead_spelling(concat_ws(' ', ${SEARCHED_COLUMNS.map((column) => `left(${row}${column}, ${MAX_LENGTH.name})`).join(', ')}))`;

/**
 * The words by which `q` finds leads. One index holds those of all organizations, so each word begins with its organization,
 * and a search reads the words of its own alone. String.raw keeps the escapes for PostgreSQL.
 */
export const LEAD_WORD_FUNCTIONS = String.raw`
-- A text without letter case and accents. normalize() takes quadratic time over a run of combining marks and hears of no
-- timeout, so the text of each field has at most ${MAX_LENGTH.name} characters: less than a millisecond.
create or replace function lead_spelling(value text) returns text language plpgsql immutable parallel safe as $$
begin
  if octet_length(value) = length(value) then
    return lower(value collate "C");
  end if;
  value := regexp_replace(normalize(value, nfd), '[\u0300-\u036f\u05b0-\u05bc\u05c1\u05c2\u0640\u064b-\u065f\u0670]', '', 'g');
  value := translate(lower(value), '${STROKED_LETTERS}${CURLY_APOSTROPHES}', '${PLAIN_LETTERS}${STRAIGHT_APOSTROPHES}');
  return replace(normalize(value), 'ß', 'ss');
end $$;

-- Puts a text between the words of another one. Where all characters are ASCII, the short expression takes a fifth of the time.
create or replace function lead_word_breaks(value text, separator text) returns text
language plpgsql immutable parallel safe as $$
begin
  if octet_length(value) = length(value) then
    return regexp_replace(value, '[^a-z0-9]+', separator, 'g');
  end if;
  return regexp_replace(value, '[${BREAKS}]+', separator, 'g');
end $$;

create or replace function words_of_lead(org integer, first_name text, last_name text, company_name text, email text)
returns tsvector language plpgsql immutable parallel safe as $$
declare
  own constant text := org || ' ';
begin
  return array_to_tsvector(array_remove(
    string_to_array(own || lead_word_breaks(${leadText('')}, E'\x01' || own), E'\x01'), own));
end $$;

-- The query for the leads that have each of the words. A word of several parts needs all of them, and the last part may be the
-- beginning of a word, unless something follows it.
create or replace function lead_word_query(org integer, words text[]) returns tsquery
language sql immutable parallel safe as $$
  select string_agg(distinct quote_literal(org || ' ' || part) || case when n = cardinality(parts) then ':*' else '' end, ' & ')::tsquery
  from unnest(words) word
    cross join string_to_array(lead_word_breaks(lead_spelling(word), ' '), ' ') parts
    cross join unnest(parts) with ordinality part (part, n)
  where part <> ''
$$;

-- Regular expressions for the words that have several parts: the text must have them as they stand, from a part of it on.
create or replace function lead_text_patterns(words text[]) returns text[] language sql immutable parallel safe as $$
  select coalesce(array_agg('(^|\s|[${BREAKS}](?![${BREAKS}]))' || regexp_replace(spelled, '([!-/:-@\[-${'`'}{-~])', '\\\1', 'g')), '{}')
  from unnest(words) word cross join lead_spelling(word) spelled
  where lead_word_breaks(spelled, ' ') <> spelled
$$;

-- After a change of leads, for each statement that inserts or deletes, and for each row that is updated.
create or replace function store_lead_words() returns trigger language plpgsql as $$
declare
  lead record;
begin
  if tg_op = 'INSERT' then
    insert into lead_words (organization_id, position, words)
    select organization_id, position, ${leadWords('changed')} from changed order by position;
  elsif tg_op = 'DELETE' then
    -- One by one: PostgreSQL, which does not know how many there are, might read the whole table for a join.
    for lead in select organization_id, position from changed order by position loop
      delete from lead_words where organization_id = lead.organization_id and position = lead.position;
    end loop;
  else
    update lead_words set words = ${leadWords('new')}
    where organization_id = new.organization_id and position = new.position;
  end if;
  return null;
end $$;

${changeTriggers('t70_words', 'leads', `(${columnsOf('old')}) is distinct from (${columnsOf('new')})`, 'store_lead_words')}
`;
