import { containsNeedle, MIN_PHONE_DIGITS } from './person-query';
import type { SearchedColumn, SearchedTable } from './searched-tables';

/** SQL of the rows of a lead's addresses, as the columns `field` and `address`. */
export const addressesOf = (lead: string): string => `
  select 'email' as field, ${lead}.email as address where ${lead}.email is not null
  union all select 'personalEmails', email_addresses(${lead}.personal_emails)
  union all select 'professionalEmails', email_addresses(${lead}.professional_emails)`;

/** SQL of the rows of a lead's phone numbers, as the columns `field` and `number`. */
export const numbersOf = (lead: string): string => `
  select list.field, phone ->> 'number' as number
  from (values ('phoneNumbers.leadProvided', ${lead}.lead_provided_phone_numbers),
    ('phoneNumbers.serviceProvided', ${lead}.service_provided_phone_numbers)) list (field, phones),
    jsonb_array_elements(phones) phone`;

/** SQL of a `like` pattern of the texts that contain a text. */
const likePattern = (text: string): string => `'%' || regexp_replace(${text}, '([\\\\%_])', '\\\\\\1', 'g') || '%'`;

/** SQL of a text as it stands in JSON, without the quotes around it. */
const withinJson = (text: string): string => `substr(to_json(${text})::text, 2, length(to_json(${text})::text) - 2)`;

/** What people write between the digits of a number. */
const PHONE_SIGNS = '[[:space:]().+/-]*';

/** SQL of a regular expression of the digits of a number. `(?<!` and `(?!` say what may not stand around it. */
const phonePattern = (digits: string, notBefore: string, notAfter: string): string =>
  `'(?<!${notBefore})(00)?' || array_to_string(string_to_array(${digits}, null), '${PHONE_SIGNS}') || '(?!${notAfter})'`;

/**
 * The needles of the addresses `$2` and numbers `$3`, and of those of the leads `$4` of organization `$1`, without those of the
 * leads `$5`.
 */
export const FIND_NEEDLES = `
  with leads_named as materialized (select * from leads where organization_id = $1 and id = any($4::uuid[])),
    others as materialized (select * from leads where organization_id = $1 and id = any($5::uuid[])),
    address as (
      select value, bool_or(is_named) as is_named from (
        select lower(address) as value, true as is_named from unnest($2::text[]) address
        union all select lower(a.address), false from leads_named l, lateral (${addressesOf('l')}) a
      ) each
      where value not in (select lower(a.address) from others o, lateral (${addressesOf('o')}) a)
      group by value
    ),
    number as (
      select value, max(ending) as ending, bool_or(is_named) as is_named from (
        select phone_key(number) as value, phone_ending(number) as ending, true as is_named from unnest($3::text[]) number
        union all select phone_key(n.number), phone_ending(n.number), false from leads_named l, lateral (${numbersOf('l')}) n
      ) each
      where length(value) >= ${MIN_PHONE_DIGITS}
        and value not in (select phone_key(n.number) from others o, lateral (${numbersOf('o')}) n)
      group by value
    )
  select array(select value from address) as emails,
    array(select ${likePattern('value')} from address union select ${likePattern(withinJson('value'))} from address) as "emailPatterns",
    array(select value from number) as phones,
    array(select ${phonePattern('value', '[0-9]', '[0-9]')} from number) as "phonePatterns",
    -- Digits of an ID or a date are no word.
    array(select ${phonePattern('value', '[[:alnum:]-]', '[[:alnum:]:-]')} from number) as "phoneWords",
    array(select ending from number) as "phoneEndings",
    array(select value from address where is_named) as "namedEmails",
    array(select value from number where is_named) as "namedPhones"`;

/** The end of another number is one with as many digits. */
const MIN_ENDING_DIGITS = 7;

/** SQL of whether one of two endings of numbers is that of the other. */
const endsAlike = (one: string, other: string): string =>
  `least(length(${one}), length(${other})) >= ${MIN_ENDING_DIGITS}
    and right(${one}, length(${other})) = right(${other}, length(${one}))`;

/** What may stand between the digits of a number in JSON: anything but other digits, a (0), or the escape of a control character. */
const BETWEEN_DIGITS = '([^1-9]|\\\\u00[01][0-9a-f])*';

/**
 * SQL of a quick condition of all leads that `FIND_LEADS` has to look at: a text contains the address, or the last digits of the
 * number. Comparing each address and number takes ten times as long.
 */
const mayBePerson = (lead: string): string => `(
    ${lead}.id = any($2::uuid[])
    or lower(concat_ws(' ', ${lead}.email, ${lead}.personal_emails, ${lead}.professional_emails)) like any($4::text[])
    or ${lead}.lead_provided_phone_numbers::text || ${lead}.service_provided_phone_numbers::text ~ any(array(
      select array_to_string(string_to_array(right(digits, ${MIN_ENDING_DIGITS}), null), '${BETWEEN_DIGITS}')
      from unnest($5::text[] || $6::text[]) digits)))`;

/**
 * The leads that are, or may be, a person, in the order of their list, and why. `$1` is the organization, `$2` the IDs that are
 * named. The others are properties of `Needles`: `$3` emails, `$4` emailPatterns, `$5` phones, `$6` phoneEndings.
 */
export const FIND_LEADS = `
  select l.id, l.document, concat_ws(' ', l.first_name, l.last_name) as name, l.created_at as "createdAt", matches
  from leads l cross join lateral (
    select json_agg(json_build_object('kind', kind, 'field', field, 'text', text, 'value', value)) as matches from (
      select 'id' as kind, 'id' as field, l.id::text as text, l.id::text as value where l.id = any($2::uuid[])
      union all
      select 'address', field, address, lower(address) from (${addressesOf('l')}) a where lower(address) = any($3::text[])
      union all
      select case when phone_key(number) = any($5::text[]) then 'number' else 'ending' end, field, number, phone_key(number)
      from (${numbersOf('l')}) n
      where phone_key(number) = any($5::text[])
        or exists (select from unnest($6::text[]) ending where ${endsAlike('phone_ending(number)', 'ending')})
    ) m
  ) m
  where l.organization_id = $1 and ${mayBePerson('l')} and matches is not null
  order by l.position`;

/** The associations of the leads `$2` of organization `$1` with events and activations. */
export const FIND_EVENTS = `
  select l.lead_id as "leadId", e.id::int8 as "eventId", e.name as "eventName", null::uuid as "activationId",
    null as "activationName", l.registered, l.checked_in as "checkedIn"
  from event_leads l join events e on e.organization_id = l.organization_id and e.id = l.event_id
  where l.organization_id = $1 and l.lead_id = any($2::uuid[])
  union all
  select l.lead_id, e.id::int8, e.name, a.id, a.name, l.registered, l.checked_in
  from lead_activations l join activations a on a.organization_id = l.organization_id and a.id = l.activation_id
    join events e on e.organization_id = a.organization_id and e.id = a.event_id
  where l.organization_id = $1 and l.lead_id = any($2::uuid[])
  order by 1, 2, 4 nulls first`;

/** The table of a lead's activity events. */
export const ACTIVITY_TABLE = 'lead_activity_events';

/** The activity events of the leads `$2` of organization `$1`. @param record SQL of the JSON text of a row `t` */
export const findActivity = (record: string): string => `
  select ${record} as record from ${ACTIVITY_TABLE} t
  where t.organization_id = $1 and t.lead_id = any($2::uuid[]) order by t.position`;

/** The fields of a lead and of an activity event in which the address of a user stands. */
export const USER_FIELDS = ['createdBy', 'lastScannedBy'];

/** Which of the addresses `$4` are those of the leads `$2` of organization `$1`, or of `$3`. */
export const FIND_OWN_ADDRESSES = `
  with own as materialized (
    select lower(a.address) as address from leads l, lateral (${addressesOf('l')}) a
    where l.organization_id = $1 and l.id = any($2::uuid[])
  )
  select address from unnest($4::text[]) address
  where lower(address) = any($3::text[]) or lower(address) in (select address from own)`;

/** What a stored response is replaced by. */
export const GONE = { status: 410, body: '{"status":410,"error":"Gone"}' };

/** All texts of a stored response `a`. */
const RESPONSE = `concat_ws(' ', a.idempotency_key, a.headers, a.answer)`;

/**
 * The condition of stored responses `a` of organization `$1` that hold a lead of `$2`, or an address or a number as a whole value
 * or word. The others are properties of `Needles`: `$3` emailPatterns, `$4` emails, `$5` phonePatterns, `$6` phoneWords. Only
 * what contains one of them is read as JSON, which takes many times as long.
 */
const HOLDS_PERSON = `
  a.api_key_id in (select id from api_keys where organization_id = $1) and a.answer <> '${GONE.body}' and (
    exists (select from unnest($2::uuid[]) lead (id) where position(lead.id::text in ${RESPONSE}) > 0)
    or case when ${containsNeedle(RESPONSE, '$3::text[]', '$5::text[]')} then exists (
      select from jsonb_path_query(jsonb_build_array(a.idempotency_key, a.headers, a.answer::jsonb), 'strict $.**') value,
        lateral (select value #>> '{}') t (text)
      where jsonb_typeof(value) = 'string' and (lower(text) = any($4::text[]) or text ~ any($6::text[])
        or exists (select from email_addresses(text) address where lower(address) = any($4::text[])))
    ) else false end)`;

export const COUNT_RESPONSES = `select count(*)::int as count from idempotent_answers a where ${HOLDS_PERSON}`;

/** Leaves nothing of a request but its fingerprint and its key. `$7` is how old a response may be. */
export const REPLACE_RESPONSES = `
  update idempotent_answers a set answer = '${GONE.body}', status = ${GONE.status}, headers = '{}'
  where a.created_at > now() - $7::interval and ${HOLDS_PERSON}`;

/** Changes that hold a lead of `$2`, or an address that is like `$3`. */
export const COUNT_CHANGES = `
  select count(*)::int as count from changes
  where organization_id = $1 and (id = any($2::uuid[]) or lower(remote_ids::text) like any($3::text[]))`;

/** The leads `$2` of organization `$1`, which are locked in the order of their IDs. */
export const DELETE_LEADS = `
  with locked as materialized (
    select id from leads where organization_id = $1 and id = any($2::uuid[]) order by id for update
  )
  delete from leads where organization_id = $1 and id in (select id from locked)`;

/** SQL of what identifies a row: its ID or, where several columns do, an object. */
function idOf(table: SearchedTable): string {
  const own = table.primaryKey.filter((column) => column !== 'organization_id');
  if (own.length === 1) return `to_jsonb(t.${own[0]})`;
  return `jsonb_build_object(${own.map((column) => `'${camelCase(column)}', t.${column}`).join(', ')})`;
}

const camelCase = (column: string): string => column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** SQL of whether a column is one of the addresses `$2`. */
const isUserAddress = ({ name, isArray }: SearchedColumn): string =>
  isArray
    ? `exists (select from unnest(t.${name}) entry where lower(entry) = any($2::text[]))`
    : `lower(t.${name}) = any($2::text[])`;

/**
 * Where an address or a number stands in a table, one row for each field of a row. `$1` is the organization, `$2` the
 * addresses, `$3` patterns of them, `$4` patterns of numbers, `$5` the leads whose rows do not count.
 */
export function findOccurrences(table: SearchedTable): string {
  const values = table.columns.map(
    (column) => `('${column.field}', t.${column.name}::text, ${column.holdsUser ? isUserAddress(column) : 'false'})`,
  );
  // One look at all texts of a row is several times as fast as one at each.
  const rowText = `concat_ws(E'\\n', ${table.columns.map(({ name }) => `t.${name}::text`).join(', ')})`;
  const scope = table.organizationColumn ? `t.${table.organizationColumn} = $1` : '$1::int is not null';
  const isOther = table.leadColumn ? `(t.${table.leadColumn} = any($5::uuid[])) is not true` : '$5::uuid[] is not null';
  return `
    select ${idOf(table)} as id, v.field, coalesce(v.is_user, false) as "isUser"
    from ${table.name} t cross join lateral (values ${values.join(', ')}) v (field, value, is_user)
    where ${scope} and ${isOther} and $2::text[] is not null
      and ${containsNeedle(rowText, '$3::text[]', '$4::text[]')}
      and ${containsNeedle('v.value', '$3::text[]', '$4::text[]')}
    order by 1, 2`;
}

/**
 * Takes the addresses `$2` out of the columns that hold users: the record goes where the address identifies it. The shared
 * catalog belongs to no organization, so none of its records is changed.
 */
export function eraseUsers({ name, columns, primaryKey, organizationColumn }: SearchedTable): string[] {
  if (!organizationColumn) return [];
  const keysOf = (row: string): string => primaryKey.map((key) => `${row}.${key}`).join(', ');
  return columns.flatMap((column) => {
    const rows = `${name} t where t.${organizationColumn} = $1 and ${isUserAddress(column)}`;
    if (column.holdsUser && column.isRecordKey) return `delete from ${rows}`;
    if (!column.holdsUser || !(column.isArray || column.isNullable)) return [];
    const remaining = `array(select entry from unnest(t.${column.name}) with ordinality e (entry, n)
      where lower(entry) <> all($2::text[]) order by n)`;
    return `
      with rows as (select ${keysOf('t')} from ${rows} order by ${keysOf('t')} for no key update)
      update ${name} t set ${column.name} = ${column.isArray ? remaining : 'null'} from rows
      where (${keysOf('t')}) = (${keysOf('rows')})`;
  });
}
