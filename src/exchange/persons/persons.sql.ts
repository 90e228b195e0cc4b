import { ADDRESS_SEPARATORS, containsNeedle } from './person-query';
import type { SearchedColumn, SearchedTable } from './searched-tables';

const ADDRESSES = `concat_ws(' ', email, personal_emails, professional_emails)`;
const NUMBERS = 'jsonb_array_elements(lead_provided_phone_numbers || service_provided_phone_numbers) phone';
const DIGITS = `regexp_replace(phone ->> 'number', '\\D', '', 'g')`;

/**
 * The leads of a person, in the order of their list. `$1` is the organization, `$2` the addresses, `$3` the digits of the
 * numbers, `$4` the IDs, `$5` patterns of texts that contain an address.
 */
export const FIND_LEADS = `
  select id, document, ${ADDRESSES} as addresses,
    array(select ${DIGITS} from ${NUMBERS} where phone ->> 'number' ~ '\\d') as phones
  from leads where organization_id = $1 and (
    id = any($4::uuid[])
    or lower(${ADDRESSES}) like any($5::text[])
      and regexp_split_to_array(lower(${ADDRESSES}), '${ADDRESS_SEPARATORS}') && $2::text[]
    or cardinality($3::text[]) > 0 and exists (select from ${NUMBERS} where ${DIGITS} = any($3)))
  order by position`;

/** The events that leads `$2` of organization `$1` are associated with. */
export const FIND_EVENTS = `
  select l.lead_id as "leadId", e.id::int8 as "eventId", e.name, l.registered, l.checked_in as "checkedIn"
  from event_leads l join events e on e.organization_id = l.organization_id and e.id = l.event_id
  where l.organization_id = $1 and l.lead_id = any($2::uuid[]) order by l.lead_id, l.associated_at, e.id`;

/** All texts of leads of organization `$1` in which addresses stand. */
export const LEAD_ADDRESSES = `
  select ${ADDRESSES} as text from leads where organization_id = $1 and ${ADDRESSES} like '%@%'`;

/** What a stored response is replaced by. */
export const GONE = { status: 410, body: '{"status":410,"error":"Gone"}' };

/** The text of a JSON text, with blanks in place of escapes, which would look like letters before an address. */
const WITHOUT_ESCAPES = `regexp_replace(raw, '\\\\(u[0-9a-fA-F]{4}|.)', ' ', 'g')`;

/**
 * The condition of stored responses `a` of organization `$1` that hold a lead of `$2`, an address that is like `$3` and
 * matches `$4`, or a number that matches `$5`.
 */
const HOLDS_PERSON = `
  a.api_key_id in (select id from api_keys where organization_id = $1) and a.answer <> '${GONE.body}' and exists (
    select from (select concat_ws(' ', a.idempotency_key, a.headers, a.answer)) t (raw)
    where exists (select from unnest($2::uuid[]) lead (id) where position(lead.id::text in raw) > 0)
      or lower(raw) like any($3::text[]) and lower(${WITHOUT_ESCAPES}) ~ any($4::text[])
      or cardinality($5::text[]) > 0 and ${WITHOUT_ESCAPES} ~ any($5))`;

export const COUNT_RESPONSES = `select count(*)::int as count from idempotent_answers a where ${HOLDS_PERSON}`;

/** Leaves nothing of a request but its fingerprint and its key. `$6` is how old a response may be. */
export const REPLACE_RESPONSES = `
  update idempotent_answers a set answer = '${GONE.body}', status = ${GONE.status}, headers = '{}'
  where a.created_at > now() - $6::interval and ${HOLDS_PERSON}`;

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
    ? `exists (select from unnest(t.${name}) entry where lower(btrim(entry)) = any($2::text[]))`
    : `lower(btrim(t.${name})) = any($2::text[])`;

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
      where lower(btrim(entry)) <> all($2::text[]) order by n)`;
    return `
      with rows as (select ${keysOf('t')} from ${rows} order by ${keysOf('t')} for no key update)
      update ${name} t set ${column.name} = ${column.isArray ? remaining : 'null'} from rows
      where (${keysOf('t')}) = (${keysOf('rows')})`;
  });
}
