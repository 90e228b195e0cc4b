import { BooleanField, DateTime, optional, optionalNullable, Uuid } from '../../fields/fields';
import { csvField } from '../../exchange/csv/csv-fields';
import { withCsv } from '../../exchange/csv/csv-section';
import { utcDayValue } from '../../exchange/csv/csv-values';
import { type ColumnCheck, datasetOf } from '../../exchange/datasets/dataset';
import columnNames from './column-names/en.json';
import { IndustryEventCreateV0Input } from './industry-event.dto';
import { IndustryEventEntity } from './industry-event.entity';

export class IndustryEventRecord extends IndustryEventCreateV0Input {
  @Uuid(optional) id?: string;
  @DateTime(optional) createdAt?: string;
  @DateTime(optional) updatedAt?: string;
  /** Whether the organization has bookmarked it. Without a value, its bookmark stays as it is. */
  @BooleanField(optionalNullable) isBookmarked?: boolean | null;
}

const STAGED_TABLE = 'staged_industry_events';

/** The condition that a stored record has an eventUrl, in the form of the unique index. */
const hasUrl = (row: string, url: string): string =>
  `event_url_digest(${row}.event_url) = event_url_digest(${url}) and ${row}.event_url = ${url}`;

/**
 * A record must not take the eventUrl of an earlier record in the file, nor that of another stored record, unless the file
 * gives that record a different eventUrl.
 */
const uniqueUrl: ColumnCheck = {
  column: 'event_url',
  findViolations: (staged) => `
  (
    select *, min(record_index) over (partition by event_url) as first_index
    from ${STAGED_TABLE} where event_url is not null
  ) ${staged}
    join industry_events own on own.id = ${staged}.id
    left join industry_events other on ${hasUrl('other', `${staged}.event_url`)} and other.id <> ${staged}.id
    left join ${STAGED_TABLE} release on release.id = other.id
      and release.event_url is distinct from ${staged}.event_url
  where ${staged}.record_index > ${staged}.first_index or (other.id is not null and release.id is null)`,
  message: (url) => `${url} is the eventUrl of another record.`,
  expected: 'an eventUrl that no other record has',
};

/** Releases all URLs that records give up before any record gets a new one, because it may be one of those. */
const RELEASE_URLS = `
  update industry_events e set event_url = null, updated_at = coalesce(s.updated_at, now())
  from ${STAGED_TABLE} s where e.id = s.id and e.event_url is not null and e.event_url is distinct from s.event_url`;

const columnsOf = (row: string, columns: string[]): string => columns.map((column) => `${row}.${column}`).join(', ');

const updateRecords = (columns: string[]): string => `
  update industry_events e set ${columns.map((column) => `${column} = s.${column}`).join(', ')},
    created_at = coalesce(s.created_at, e.created_at), updated_at = coalesce(s.updated_at, now())
  from ${STAGED_TABLE} s where e.id = s.id
    and (${columnsOf('e', columns)}, e.created_at, e.updated_at) is distinct from
      (${columnsOf('s', columns)}, coalesce(s.created_at, e.created_at), coalesce(s.updated_at, e.updated_at))`;

/** A new record with the eventUrl of a stored one is that record, which stays unchanged, as with POST. */
const MATCH_BY_URL = `
  update ${STAGED_TABLE} s set id = e.id from industry_events e
  where ${hasUrl('e', 's.event_url')} and not exists (select from industry_events o where o.id = s.id)`;

/** The columns of a row as one text, which can be hashed even if some are null. */
const wholeRecord = (row: string, columns: string[]): string => `row(${columnsOf(row, columns)})::text`;

/** A record without an id and an eventUrl is the oldest stored one with the same values. */
const matchByValues = (columns: string[]): string => `
  update ${STAGED_TABLE} s set id = m.id from (
    select distinct on (s.record_index) s.record_index, e.id from ${STAGED_TABLE} s
    join industry_events e on e.name = s.name and ${wholeRecord('e', columns)} = ${wholeRecord('s', columns)}
    where s.id is null and s.event_url is null order by s.record_index, e.position
  ) m where m.record_index = s.record_index`;

/** Of several identical new records, only the first one is inserted. */
function insertRecords(columns: string[]): string {
  const identity = `coalesce(s.event_url, s.id::text, ${wholeRecord('s', columns)})`;
  return `
  with fresh as materialized (
    select *, row_number() over (order by record_index) - 1 as n from (
      select distinct on (${identity}) s.* from ${STAGED_TABLE} s
      where not exists (select from industry_events e where e.id = s.id)
      order by ${identity}, s.record_index
    ) firsts
  ), allocated as materialized (
    select list_take(0, 'industry_events', count(*)) as start from fresh having count(*) > 0
  )
  insert into industry_events (id, position, created_at, updated_at, ${columns.join(', ')})
  select coalesce(id, uuid_v7()), start + n, coalesce(created_at, now()), coalesce(updated_at, created_at, now()),
    ${columns.join(', ')}
  from fresh, allocated order by n`;
}

/** Of several identical records, the last one with a value decides about the bookmark. */
const BOOKMARK_TABLE = `
  (
    select distinct on (id) id, is_bookmarked from ${STAGED_TABLE}
    where is_bookmarked is not null order by id, record_index desc
  ) m`;

const ADD_BOOKMARKS = `
  insert into industry_event_bookmarks (organization_id, industry_event_id)
  select $1, m.id from ${BOOKMARK_TABLE} where is_bookmarked order by m.id on conflict do nothing`;

const REMOVE_BOOKMARKS = `
  delete from industry_event_bookmarks b using ${BOOKMARK_TABLE}
  where b.organization_id = $1 and b.industry_event_id = m.id and not m.is_bookmarked`;

function writeStatements(provided: string[], columns: string[]): string[] {
  const match = [MATCH_BY_URL, matchByValues(columns)];
  return [
    ...(provided.includes('event_url') ? [RELEASE_URLS] : []),
    ...(provided.length > 0 ? [updateRecords(provided)] : []),
    ...match,
    insertRecords(columns),
    // This also gives the staged rows of new records their IDs.
    ...match,
    ADD_BOOKMARKS,
    REMOVE_BOOKMARKS,
  ];
}

const dataset = datasetOf(IndustryEventRecord, IndustryEventEntity, {
  noun: 'industry event',
  key: 'id',
  computedFields: {
    isBookmarked: {
      type: 'boolean',
      // Only existing bookmarks are exported, because importing `false` elsewhere would remove one.
      select: (row) => `(select true from industry_event_bookmarks b
        where b.organization_id = $1 and b.industry_event_id = ${row}.id)`,
    },
  },
  shared: {
    checks: [uniqueUrl],
    matchingRows: (row) => `${row}.id in (select id from ${STAGED_TABLE})
      or ${row}.name in (select name from ${STAGED_TABLE})
      or event_url_digest(${row}.event_url) in (
        select event_url_digest(event_url) from ${STAGED_TABLE} where event_url is not null
      )`,
    writeStatements,
  },
  aliases: columnNames,
});

/** The days of an event, which are those of the place where it is. */
const days = ['startDate', 'endDate'].map((path) => csvField(path, utcDayValue, null));

export const INDUSTRY_EVENTS = withCsv(dataset, { fields: days });
