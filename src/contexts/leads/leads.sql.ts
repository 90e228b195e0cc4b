import { snakeCase } from '../../data/database/data-source';
import { organizationLock } from '../../data/database/locks';
import { arrivalList, filteredList, limitedRows, lookupList, pagedList } from '../../data/database/paginate';
import { schemasOf } from '../../fields/field-rules';
import { LeadCreateV0Input, LeadPatchV0Input } from './lead.dto';
import { LeadEntity } from './lead.entity';
import { firstMatching, hasEmail, hasRemoteId, isAtEvent, isOwn } from './lead.match';
import { LEAD_EVENT_JSON, LEAD_JSON } from './lead.response';
import { leadText } from './lead.words';

const LEAD_LIST = { entity: LeadEntity, rowJson: LEAD_JSON };

export const LIST_LEADS = arrivalList(LEAD_LIST);

const IS_OWN = isOwn('leads');

/** The values that filtered lists are read with, in the order of `$2` and those that follow. Null is a filter that is not given. */
export interface LeadFilters {
  email: string | null;
  integrationType: string | null;
  remoteId: string | null;
  words: string[] | null;
  eventId: number | null;
  hasEmail: boolean | null;
  createdSince: string | null;
}

export const filterValues = (filters: LeadFilters): unknown[] => [
  filters.email,
  filters.integrationType,
  filters.remoteId,
  filters.words,
  filters.eventId,
  filters.hasEmail,
  filters.createdSince,
];

interface Filter {
  /** SQL of the parameter that is null if the filter is not given. */
  value: string;
  condition: string;
}

const EVENT_ID = '$6::bigint';

/** The words, and the condition that a row of `lead_words` has each of them. The query for them is computed once. */
const WORDS = '$5::text[]';
const HAS_WORDS = `lead_words.words @@ (select lead_word_query($1, ${WORDS}))`;

/** Patterns for words of several parts, such as `rowe@example`. They are computed once. */
const TEXT_PATTERNS = `(select lead_text_patterns(${WORDS}))`;
const MATCHES_PATTERNS = `${leadText('leads.')} ~ all(${TEXT_PATTERNS}::text[])`;

/** The filters by which an index of leads finds them. */
const INDEXED_FILTERS = {
  email: { value: '$2::text', condition: hasEmail('leads', '$2') },
  remoteId: { value: '$4::text', condition: hasRemoteId('leads', '$3::text', '$4') },
  eventId: { value: EVENT_ID, condition: isAtEvent('leads', EVENT_ID) },
} satisfies Partial<Record<keyof LeadFilters, Filter>>;

/** The filters of a lead's row. */
const ROW_FILTERS: Filter[] = [
  ...Object.values(INDEXED_FILTERS),
  { value: '$7::boolean', condition: `(coalesce(leads.email, '') <> '') = $7` },
  { value: '$8::timestamptz', condition: 'leads.created_at >= $8' },
];

const WORD_FILTER: Filter = {
  value: WORDS,
  condition: `${MATCHES_PATTERNS} and exists (select from lead_words
          where organization_id = $1 and position = leads.position and ${HAS_WORDS})`,
};

const holdsIfGiven = ({ value, condition }: Filter): string => `(${value} is null or ${condition})`;

/** The condition of all filters. That of the index stands alone, because PostgreSQL uses no index for an alternative. */
const matchesFilters = (indexed?: Filter): string =>
  [
    ...(indexed ? [indexed.condition] : []),
    ...[...ROW_FILTERS, WORD_FILTER].filter((filter) => filter !== indexed).map(holdsIfGiven),
  ].join('\n        and ');

const FILTERED = {
  ...LEAD_LIST,
  valueCount: 7,
  parentExists: `select where ${EVENT_ID} is null union all select from events where organization_id = $1 and id = ${EVENT_ID}`,
};

const leadsBy = (name: string, indexed: Filter) =>
  lookupList({
    ...FILTERED,
    name: `leads.by${name}`,
    positions: `select position from leads where ${IS_OWN} and ${matchesFilters(indexed)}`,
  });

/** The leads with words. Their own rows are read only for other filters and for words of several parts. */
const LEADS_BY_WORDS = lookupList({
  ...FILTERED,
  name: 'leads.byWords',
  positions: `
        select position from lead_words
        where ${isOwn('lead_words')} and ${HAS_WORDS}
          and (
            ${TEXT_PATTERNS} = '{}' and ${ROW_FILTERS.map(({ value }) => `${value} is null`).join(' and ')}
            or exists (select from leads where organization_id = $1 and leads.position = lead_words.position
              and ${[MATCHES_PATTERNS, ...ROW_FILTERS.map(holdsIfGiven)].join('\n        and ')})
          )`,
});

/** The names of the filters that an index serves, the most selective one first. */
export const INDEXED: readonly (keyof typeof LEADS_BY)[] = ['email', 'remoteId', 'words', 'eventId'];

/** The lists of leads by the filter whose index finds them. Each has the other filters, too. */
export const LEADS_BY = {
  email: leadsBy('Email', INDEXED_FILTERS.email),
  remoteId: leadsBy('RemoteId', INDEXED_FILTERS.remoteId),
  words: LEADS_BY_WORDS,
  eventId: leadsBy('Event', INDEXED_FILTERS.eventId),
};

/** The leads that match filters without an index. */
export const FILTERED_LEADS = filteredList({
  ...FILTERED,
  name: 'leads.filtered',
  where: `organization_id = $1 and ${matchesFilters()}`,
});

const ASSOCIATION_ORDER = 'associated_at, event_id';

/** The events of a lead in the order of association. */
export const LIST_LEAD_EVENTS = pagedList({
  name: 'lead.events',
  valueCount: 1,
  page: ({ limit, index }) => `
    with found as materialized (select * from event_leads where organization_id = $1 and lead_id = $2)
    select page.json, counted.total
    from (select count(*) as total from found having exists (select from leads where ${IS_OWN} and id = $2)) counted
      left join (
        select ${LEAD_EVENT_JSON} as json, associated_at, event_id
        from (${limitedRows(`select * from found order by ${ASSOCIATION_ORDER} offset ${index} * ${limit}`, 'event_leads', limit, ASSOCIATION_ORDER)}) event_leads
          join events on events.organization_id = $1 and events.id = event_leads.event_id
      ) page on true
    order by page.associated_at, page.event_id`,
});

export const GET_LEAD = {
  name: 'lead.get',
  text: `select ${LEAD_JSON} from leads where organization_id = $1 and id = $2`,
};

/** The columns of fields that have other names. */
const OTHER_COLUMNS: Partial<Record<string, string>> = {
  createdByEmail: 'created_by',
  phoneNumbers: 'lead_provided_phone_numbers',
  remoteId: 'remote_ids',
};
const columnOf = (field: string): string => OTHER_COLUMNS[field] ?? snakeCase(field);

const CREATE_FIELDS = [...schemasOf(LeadCreateV0Input).keys()];
const inputColumn = (field: string): string => `"${field}" ${field === 'phoneNumbers' ? 'jsonb' : 'text'}`;
const createdValue = (field: string): string =>
  field === 'phoneNumbers' ? `coalesce("phoneNumbers", '[]')` : `"${field}"`;

/** `$2` is an array of inputs. Creates of one organization wait for each other's commit anyway, so they are batched. */
export const CREATE_LEAD = {
  name: 'lead.create',
  text: `
    with given as materialized (
        select * from rows from (jsonb_to_recordset($2) as (${CREATE_FIELDS.map(inputColumn).join(', ')}))
          with ordinality as g (${CREATE_FIELDS.map((field) => `"${field}"`).join(', ')}, n)
      ),
      taken as materialized (select list_take($1, 'leads', count(*)) as start from given),
      created as (
        insert into leads (organization_id, position, ${CREATE_FIELDS.map(columnOf).join(', ')})
        select $1, start + n - 1, ${CREATE_FIELDS.map(createdValue).join(', ')} from given, taken
        returning position, document
      )
    select document from created order by position`,
};

const PATCH_FIELDS = [...schemasOf(LeadPatchV0Input).keys()];
const PATCH_COLUMNS = PATCH_FIELDS.map(columnOf);
const patchColumns = (row: string): string => PATCH_COLUMNS.map((column) => `${row}.${column}`).join(', ');

/** SQL of the new value of a field's column: null clears it, and an omitted field keeps it. `patch` is SQL of JSON. */
function patchedValue(field: string, patch: string): string {
  const [column, isGiven] = [columnOf(field), `case when ${patch} ? '${field}'`];
  if (field === 'phoneNumbers') {
    return `${isGiven} then coalesce(nullif(${patch} -> 'phoneNumbers', 'null'), '[]') else coalesce(${column}, '[]') end`;
  }
  if (field === 'remoteId') {
    return `${isGiven} then set_remote_id(coalesce(${column}, '[]'), ${patch} -> 'remoteId') else coalesce(${column}, '[]') end`;
  }
  return `${isGiven} then ${patch} ->> '${field}' else ${column} end`;
}

export const PATCH_LEAD = {
  name: 'lead.patch',
  text: `
    update leads set
      ${PATCH_FIELDS.map((field) => `${columnOf(field)} = ${patchedValue(field, '$3::jsonb')}`).join(',\n      ')}
    where organization_id = $1 and id = $2
    returning ${LEAD_JSON}`,
};

/** How long a batch waits for a lead that an import has changed. All creates of its organization wait for the batch. */
const BATCH_LOCK_TIMEOUT_MS = 500;

/**
 * Locks the list of leads, so that nobody creates a lead that the batch has looked up and not found. Sequential scans are
 * switched off for the transaction, because a plan for 200 look-ups may have been made when there were few leads.
 */
export const LOCK_LEAD_LIST = {
  name: 'leads.lock',
  text: `
    select set_config('enable_seqscan', 'off', true), set_config('lock_timeout', '${BATCH_LOCK_TIMEOUT_MS}', true)
    from list_take($1, 'leads', 0)`,
};

/**
 * Finds and locks, in the order of ids, the lead to update for each `value` of the JSON array `$2`.
 * @param key SQL by which two values are the same
 * @param hasValue the condition that a lead has the value
 */
const matchStatement = (name: string, key: string, hasValue: (lead: string) => string) => ({
  name,
  text: `
    with given as materialized (
        select value, n, min(n) over (partition by ${key}) as first
        from jsonb_array_elements($2::jsonb) with ordinality g (value, n)
      ),
      found as materialized (
        select value, n, first, (${firstMatching(hasValue)}) as id from given
      ),
      locked as materialized (
        select * from leads where ${IS_OWN} and id = any(array(select id from found)) order by id for no key update
      )
    select json_build_object('id', found.id, 'firstIndex', first - 1, 'isLocked', locked.id is not null)::text
    from found left join locked on locked.id = found.id and ${hasValue('locked')} order by n`,
});

const EMAIL_VALUE = `value #>> '{}'`;
export const MATCH_LEADS_BY_EMAIL = matchStatement('leads.matchEmail', `lower(${EMAIL_VALUE})`, (lead) =>
  hasEmail(lead, EMAIL_VALUE),
);
export const MATCH_LEADS_BY_REMOTE_ID = matchStatement(
  'leads.matchRemoteId',
  `remote_id_key($1, value ->> 'integrationType', value ->> 'id')`,
  (lead) => hasRemoteId(lead, `value ->> 'integrationType'`, `value ->> 'id'`),
);

/** `$2` is an array of entries, `$3` the ids of the leads that they update; null for an entry that creates one. */
export const UPSERT_LEADS = {
  name: 'leads.upsert',
  text: `
    with stored as materialized (select * from leads where ${IS_OWN} and id = any($3::uuid[])),
      wanted as materialized (
        select given.id, n, row_number() over (partition by given.id is null order by n) - 1 as nth,
          entry ->> 'createdByEmail' as created_by, entry ->> 'companyName' as company_name, document,
          ${PATCH_FIELDS.map((field) => `${patchedValue(field, 'entry')} as ${columnOf(field)}`).join(',\n          ')}
        from rows from (jsonb_array_elements($2::jsonb), unnest($3::uuid[])) with ordinality as given (entry, id, n)
          left join stored on stored.id = given.id
      ),
      updated as (
        update leads set ${PATCH_COLUMNS.map((column) => `${column} = w.${column}`).join(', ')}
        from wanted w
        where ${IS_OWN} and leads.id = any($3) and leads.id = w.id
          and (${patchColumns('leads')}) is distinct from (${patchColumns('w')})
        returning w.n, leads.document
      ),
      taken as materialized (
        select list_take($1, 'leads', count(*)) as start from wanted where id is null having count(*) > 0
      ),
      created as (
        insert into leads (organization_id, position, created_by, company_name, ${PATCH_COLUMNS.join(', ')})
        select $1, start + nth, created_by, w.company_name, ${patchColumns('w')}
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

/** Foreign keys delete the lead's records from several lists, so the organization is locked first. */
export const DELETE_LEAD = {
  name: 'lead.delete',
  text: `
    delete from leads where (select ${organizationLock('$1')}) is not null and organization_id = $1 and id = $2`,
};
