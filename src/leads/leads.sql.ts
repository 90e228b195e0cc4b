import { lockOf } from '../database/locks';
import { arrivalList, lookupList } from '../database/paginate';
import type { LeadCreateV0Input, LeadPatchV0Input } from './lead.dto';
import { LeadEntity } from './lead.entity';
import { LEAD } from './lead.response';

const shown = { entity: LeadEntity, item: LEAD };

export const LIST_LEADS = arrivalList(shown);

/** As `organization_id = $1`, but no condition of an index: what is looked for has an index of its own, with the organization. */
const OWN = '(organization_id = $1) is true';
const hasEmail = (email: string): string =>
  `email is not null and email_key(organization_id, email) = email_key($1, ${email})`;
const hasRemoteId = (integrationType: string, id: string): string =>
  `remote_ids <> '[]' and
    remote_id_keys(organization_id, remote_ids) @> array[remote_id_key($1, ${integrationType}, ${id})]`;

export const BY_EMAIL = lookupList({
  ...shown,
  name: 'leads.byEmail',
  values: 1,
  where: `${OWN} and ${hasEmail('$2')}`,
});

export const BY_REMOTE_ID = lookupList({
  ...shown,
  name: 'leads.byRemoteId',
  values: 2,
  where: `${OWN} and ${hasRemoteId('$2', '$3')}`,
});

export const BY_EMAIL_AND_REMOTE_ID = lookupList({
  ...shown,
  name: 'leads.byEmailAndRemoteId',
  values: 3,
  where: `${OWN} and ${hasEmail('$2')} and ${hasRemoteId('$3', '$4')}`,
});

export const GET_LEAD = { name: 'lead.get', text: `select ${LEAD} from leads where organization_id = $1 and id = $2` };

/** The column of each field of a new lead: a field that is missing here does not compile. */
const CREATED: Record<keyof LeadCreateV0Input, string> = {
  createdByEmail: 'created_by',
  firstName: 'first_name',
  lastName: 'last_name',
  companyName: 'company_name',
  email: 'email',
  phoneNumbers: 'lead_provided_phone_numbers',
};
const jsonOf = (field: string): string => (field === 'phoneNumbers' ? `coalesce("phoneNumbers", '[]')` : `"${field}"`);

/** `$2` is an array of inputs. Leads of one organization wait for each other's commit in any case, so they are batched. */
export const CREATE = {
  name: 'lead.create',
  text: `
    with given as materialized (
        select * from rows from (jsonb_to_recordset($2) as (${Object.keys(CREATED)
          .map((field) => `"${field}" ${field === 'phoneNumbers' ? 'jsonb' : 'text'}`)
          .join(', ')})) with ordinality as g (${Object.keys(CREATED)
          .map((field) => `"${field}"`)
          .join(', ')}, n)
      ),
      taken as materialized (select list_take($1, 'leads', count(*)) as start from given),
      created as (
        insert into leads (organization_id, position, ${Object.values(CREATED).join(', ')})
        select $1, start + n - 1, ${Object.keys(CREATED).map(jsonOf).join(', ')} from given, taken
        returning position, document
      )
    select document from created order by position`,
};

/** The column of each field of a patch: a field that is missing here does not compile. */
const PATCHED: Record<keyof LeadPatchV0Input, string> = {
  firstName: 'first_name',
  lastName: 'last_name',
  email: 'email',
  address: 'address',
  linkedin: 'linkedin',
  facebook: 'facebook',
  twitter: 'twitter',
  profilePicture: 'profile_picture',
  description: 'description',
  jobTitle: 'job_title',
  phoneNumbers: 'lead_provided_phone_numbers',
  remoteId: 'remote_ids',
};
const COLUMNS = Object.values(PATCHED);
const qualified = (row: string): string => COLUMNS.map((column) => `${row}.${column}`).join(', ');

/** SQL of the columns' new values: a field that is left out keeps its column, null clears it. */
const patched = (patch: string): string[] =>
  Object.entries(PATCHED).map(([field, column]) => {
    if (field === 'phoneNumbers') {
      return `case when ${patch} ? 'phoneNumbers' then coalesce(nullif(${patch} -> 'phoneNumbers', 'null'), '[]')
        else coalesce(${column}, '[]') end`;
    }
    if (field === 'remoteId') {
      return `case when ${patch} ? 'remoteId' then set_remote_id(coalesce(${column}, '[]'), ${patch} -> 'remoteId')
        else coalesce(${column}, '[]') end`;
    }
    return `case when ${patch} ? '${field}' then ${patch} ->> '${field}' else ${column} end`;
  });

export const PATCH = {
  name: 'lead.patch',
  text: `
    update leads set
      ${patched('$3::jsonb')
        .map((value, n) => `${COLUMNS[n]} = ${value}`)
        .join(',\n      ')}
    where organization_id = $1 and id = $2
    returning ${LEAD}`,
};

/**
 * Other writers of the list wait, so that what a batch does not find is not created meanwhile. Without scans of the table,
 * for which a plan of 200 look-ups may have been made when there were few leads.
 */
export const LOCK_LIST = {
  name: 'leads.lock',
  text: `select set_config('enable_seqscan', 'off', true) from list_take($1, 'leads', 0)`,
};

/**
 * For each of the JSON array of values `$2` the lead to update, which is locked in the order of ids.
 * @param key SQL by which two values are the same, from a `value`
 * @param has the condition of a lead that has the `value`
 */
const match = (name: string, key: string, has: string) => ({
  name,
  text: `
    with given as materialized (
        select value, n, min(n) over (partition by ${key}) as first
        from jsonb_array_elements($2::jsonb) with ordinality g (value, n)
      ),
      found as materialized (
        select value, n, first,
          -- The offset keeps PostgreSQL from looking for the value lead by lead in the order of the list.
          (select id from (select id, position from leads where ${OWN} and ${has} offset 0) leads
            order by position limit 1) as id
        from given
      ),
      locked as materialized (
        select * from leads where ${OWN} and id = any(array(select id from found)) order by id for no key update
      )
    select json_build_object('id', found.id, 'first', first - 1, 'isLocked', leads.id is not null)::text
    from found left join locked leads on leads.id = found.id and ${has} order by n`,
});

const EMAIL = `value #>> '{}'`;
export const MATCH_EMAIL = match('leads.matchEmail', `lower(${EMAIL})`, hasEmail(EMAIL));
export const MATCH_REMOTE_ID = match(
  'leads.matchRemoteId',
  'value',
  hasRemoteId(`value ->> 'integrationType'`, `value ->> 'id'`),
);

/** `$2` is an array of entries, `$3` the ids of the leads that they update, null where one creates. */
export const UPSERT = {
  name: 'leads.upsert',
  text: `
    with stored as materialized (select * from leads where ${OWN} and id = any($3::uuid[])),
      wanted as materialized (
        select given.id, n, row_number() over (partition by given.id is null order by n) - 1 as nth,
          entry ->> 'createdByEmail' as created_by, entry ->> 'companyName' as company_name, document,
          ${patched('entry')
            .map((value, n) => `${value} as ${COLUMNS[n]}`)
            .join(',\n          ')}
        from rows from (jsonb_array_elements($2::jsonb), unnest($3::uuid[])) with ordinality as given (entry, id, n)
          left join stored on stored.id = given.id
      ),
      updated as (
        update leads set ${COLUMNS.map((column) => `${column} = w.${column}`).join(', ')}
        from wanted w
        where ${OWN} and leads.id = any($3) and leads.id = w.id
          and (${qualified('leads')}) is distinct from (${qualified('w')})
        returning w.n, leads.document
      ),
      taken as materialized (
        select list_take($1, 'leads', count(*)) as start from wanted where id is null having count(*) > 0
      ),
      created as (
        insert into leads (organization_id, position, created_by, company_name, ${COLUMNS.join(', ')})
        select $1, start + nth, created_by, w.company_name, ${qualified('w')}
        from wanted w, taken where id is null order by nth
        returning position, document
      )
    select format('{"outcome":"%s","lead":%s}',
      case when c.nth is not null then 'created' when u.n is not null then 'updated' else 'unchanged' end,
      coalesce(c.document, u.document, w.document))
    from wanted w left join updated u on u.n = w.n
      left join (select position - start as nth, document from created, taken) c on w.id is null and c.nth = w.nth
    order by w.n`,
};

/** Foreign keys remove what belongs to the lead, from several lists: so the organization's lock comes first. */
export const DELETE = {
  name: 'lead.delete',
  text: `
    delete from leads where (select ${lockOf('$1')}) is not null and organization_id = $1 and id = $2`,
};
