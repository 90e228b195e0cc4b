import { INSERTS_DERIVED_COLUMNS } from '../../data/schema/derived';
import { changeTriggers } from '../../data/schema/functions';
import { LEAD_DOCUMENT_SQL } from './lead.response';

const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** A digit for each of these characters: whether it is a capital letter. */
const IS_CAPITAL = '1'.repeat(26).padEnd(LETTERS_AND_DIGITS.length, '0');
/** The digits of the numbers from 0 to 31. */
const BASE_32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345';

/** SQL of the character that tells which of five characters of an ID are capital letters, the first of them in the lowest bit. */
const capitalsDigit = (id: string, start: number): string => {
  const bits = `reverse(translate(substr(${id}, ${start}, 5), '${LETTERS_AND_DIGITS}', '${IS_CAPITAL}'))::bit(5)::integer`;
  return `substr('${BASE_32}', 1 + ${bits}, 1)`;
};

/**
 * SQL of an ID as it is compared. Salesforce gives each record an ID of 15 characters in which letter case matters, and one of
 * 18 in which it does not: each of the last three characters tells which of five characters are capital letters. An expression
 * without a subquery costs little where PostgreSQL evaluates it for each row.
 */
const comparableId = (integrationType: string, id: string): string => `case
    when ${integrationType} = 'SALES_FORCE' and ${id} ~ '^[0-9A-Za-z]{15}$'
      then ${id} || ${[1, 6, 11].map((start) => capitalsDigit(id, start)).join(' || ')}
    else ${id} end`;

/** Classes of characters of PostgreSQL's regular expressions: what no address has outside of quotes, and no domain has. */
const OUTSIDE_ADDRESS = String.raw`\u0001-\u0020"(),:;<>@\[\\\]\u007f-\u00a0\s`;
const OUTSIDE_DOMAIN = String.raw`\u0001-\u002c/\u003a-\u0040\u005b-\u005e\u0060\u007b-\u00a0\s`;

/** An address within a text. Its first part may be quoted, and then it may have blanks and separators in it. */
const ADDRESS_PATTERN =
  String.raw`((?:"(?:(?:[^"\\]|\\.)*")?|[^${OUTSIDE_ADDRESS}]+)` + `@[^${OUTSIDE_DOMAIN}]*[^.${OUTSIDE_DOMAIN}])`;

/**
 * Functions that compute the keys of the indexes by which leads are found, and those by which a text of several addresses and
 * phone numbers are compared.
 */
export const LEAD_KEY_FUNCTIONS = `
-- A lead is found by its e-mail address in lower case and by each of its remote ids. Each key contains the organization,
-- so that PostgreSQL has one index to choose, whatever it estimates the size of an organization to be.
create or replace function email_key(org integer, email text) returns text language sql immutable parallel safe as $$
  select org::text || ' ' || lower(email)
$$;
create or replace function remote_id_key(org integer, integration_type text, id text) returns text
language sql immutable parallel safe as $$
  select org::text || ' ' || integration_type || ' ' || ${comparableId('integration_type', 'id')}
$$;
create or replace function remote_id_keys(org integer, remote_ids jsonb) returns text[]
language sql immutable parallel safe as $$
  -- Not by the function above: an index is built without a search path.
  select array_agg(org::text || ' ' || (value ->> 'integrationType') || ' ' || ${comparableId(`(value ->> 'integrationType')`, `(value ->> 'id')`)})
  from jsonb_array_elements(remote_ids)
$$;
-- The addresses in a text that holds one or several, as they are spelled. Two of them are the same if they are equal in lower
-- case, as in email_key.
create or replace function email_addresses(list text) returns setof text language sql immutable parallel safe as $$
  select match[1] from regexp_matches(list, '${ADDRESS_PATTERN}', 'g') match
$$;
-- Two phone numbers are the same if their digits are equal after a leading + or 00.
create or replace function phone_key(number text) returns text language sql immutable parallel safe as $$
  select regexp_replace(regexp_replace(number, '[^0-9]', '', 'g'), '^00', '')
$$;
-- The digits of a phone number without leading zeros and the (0) of a national prefix. Two numbers may be the same if these
-- are the end of the other's.
create or replace function phone_ending(number text) returns text language sql immutable parallel safe as $$
  select ltrim(regexp_replace(replace(number, '(0)', ''), '[^0-9]', '', 'g'), '0')
$$;
`;

const renderTriggers = (table: string, isChanged: string): string =>
  changeTriggers('t50_render', table, isChanged, 'render_leads');

/**
 * The JSON of a lead, which is stored beside it (docs/decisions/0001). Any change of its contents renders it again in the
 * same transaction.
 */
export const LEAD_FUNCTIONS = `
create or replace function lead_document(lead leads) returns text language plpgsql stable as $$
begin
  return ${LEAD_DOCUMENT_SQL};
end $$;

-- Before insert or update of leads, for each row. An import inserts leads that its statement has rendered.
create or replace function render_lead() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' or new.document is null
      or current_setting('${INSERTS_DERIVED_COLUMNS}', true) is distinct from 'on' then
    new.document := lead_document(new);
  end if;
  return new;
end $$;

-- After a change of what leads show, for each row that is updated, and for each statement that inserts or deletes. Leads
-- are rendered one by one in the order of their ids, so that two changes do not deadlock.
create or replace function render_leads() returns trigger language plpgsql as $$
declare
  leads_changed uuid[];
  options uuid[];
  lead uuid;
begin
  if tg_table_name = 'tag_options' then
    leads_changed := array(select lead_id from lead_tags
      where organization_id = new.organization_id and tag_option_id = new.id);
  elsif tg_op = 'UPDATE' then
    leads_changed := array[old.lead_id, new.lead_id];
  else
    leads_changed := array(select distinct lead_id from changed);
  end if;
  -- A concurrent rename of one of these tags waits, and then finds its leads.
  if tg_table_name = 'lead_tags' and tg_op = 'UPDATE' then
    options := array[new.tag_option_id];
  elsif tg_table_name = 'lead_tags' and tg_op = 'INSERT' then
    options := array(select distinct tag_option_id from changed);
  end if;
  perform from tag_options o where o.id = any(options) order by o.id for share;
  -- An import writes what leads show before the leads themselves: then there is nothing to render yet.
  for lead in select l.id from leads l where l.id = any(leads_changed) order by l.id loop
    update leads set document = '' where id = lead; -- render_lead() sets it
  end loop;
  return null;
end $$;

create trigger t20_render before insert or update on leads for each row execute function render_lead();

create trigger t50_render_updated after update on tag_options for each row
  when (old.value is distinct from new.value) execute function render_leads();

${renderTriggers('lead_tags', '(old.lead_id, old.tag_option_id, old.position) is distinct from (new.lead_id, new.tag_option_id, new.position)')}
${renderTriggers('lead_activations', 'row(old.*) is distinct from row(new.*)')}
${renderTriggers('lead_activity_events', '(old.lead_id, old.id) is distinct from (new.lead_id, new.id)')}

create trigger t00_no_truncate before truncate on tag_options execute function refuse();
create trigger t00_no_truncate before truncate on lead_tags execute function refuse();
create trigger t00_no_truncate before truncate on lead_activations execute function refuse();

-- Remote ids with the one of an integration type replaced where it stands, appended, or (id null) removed.
create or replace function set_remote_id(all_ids jsonb, changed jsonb) returns jsonb language sql immutable as $$
  select coalesce(jsonb_agg(value order by n), '[]') from (
    select n, case when value -> 'integrationType' = changed -> 'integrationType'
      then changed else value end as value from jsonb_array_elements(all_ids) with ordinality e (value, n)
    union all
    select null, changed
      where not all_ids @> jsonb_build_array(jsonb_build_object('integrationType', changed -> 'integrationType'))
  ) ids
  where value ->> 'id' is not null
$$;
`;
