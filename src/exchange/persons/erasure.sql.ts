import { addressesOf, numbersOf } from './persons.sql';

/**
 * SQL of the hash by which a record of erasures names an address, a number or a lead: the same on every database, because
 * the collation C decides what lower case is.
 * @param salt SQL of the salt, as all parameters are SQL
 */
const hashOf = (salt: string, organization: string, kind: string, value: string): string =>
  `encode(sha256(convert_to(${salt} || ' ' || ${organization} || ' ' || ${kind} || ' ' || lower(${value} collate "C"), 'UTF8')), 'hex')`;

/** The time, and the hashes of addresses `$3`, numbers `$4` and leads `$5` of organization `$2` with the salt `$1`. */
export const HASH_ERASURE = `
  select iso_utc(clock_timestamp()::timestamptz(3)) as at, array(
    select ${hashOf('$1::text', '$2::int', 'kind', 'value')} from (
      select 'address' as kind, address as value from unnest($3::text[]) address
      union all select 'number', phone_key(number) from unnest($4::text[]) number
      union all select 'lead', id::text from unnest($5::uuid[]) id
    ) identifier) as sha256`;

/** What the hashes `$3`, of the times `$4`, mean in organization `$2`: identifiers of its leads. `$1` is the salt. */
export const FIND_HASHED = `
  with line as materialized (
      select sha256, max(at) as at from unnest($3::text[], $4::timestamptz[]) l (sha256, at) group by sha256
    ),
    identifier as (
      select id as "leadId", 'lead' as kind, id::text as value from leads where organization_id = $2
      union all select l.id, 'address', a.address from leads l, lateral (${addressesOf('l')}) a where l.organization_id = $2
      union all select l.id, 'number', phone_key(number) from leads l, lateral (${numbersOf('l')}) n where l.organization_id = $2
    )
  select "leadId", kind, value, at from identifier join line on sha256 = ${hashOf('$1::text', '$2::int', 'kind', 'value')}`;

/** All texts of leads of organization `$1` in which addresses stand. */
export const LEAD_ADDRESSES = `
  select id as "leadId", concat_ws(' ', email, personal_emails, professional_emails) as text
  from leads where organization_id = $1 and concat_ws(' ', email, personal_emails, professional_emails) like '%@%'`;

/**
 * When the leads `$2` of organization `$1` arrived: by the audit log or, if it has no entry, by `createdAt`, which an import
 * may have set. `loggedSince` is the time of the first entry of the organization, or null.
 */
export const FIND_ARRIVALS = `
  select l.id, l.created_at as "createdAt",
    (select max(at) from audit_log a where a.id = l.id and a.organization_id = $1 and resource = 'leads' and change = 'c') as "loggedAt",
    (select min(at) from audit_log where organization_id = $1) as "loggedSince"
  from leads l where l.organization_id = $1 and l.id = any($2::uuid[]) order by l.position`;
