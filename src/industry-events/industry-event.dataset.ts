import { BooleanField, DateTime, optional, optionalNullable, Uuid } from '../api/fields';
import { datasetOf } from '../datasets/dataset';
import { IndustryEventCreateV0Input } from './industry-event.dto';
import { IndustryEventEntity } from './industry-event.entity';

export class IndustryEventRecord extends IndustryEventCreateV0Input {
  @Uuid(optional) id?: string;
  @DateTime(optional) createdAt?: string;
  @DateTime(optional) updatedAt?: string;
  /** whether the organization bookmarked it; left out or null, a bookmark stays as it is */
  @BooleanField(optionalNullable) isBookmarked?: boolean | null;
}

const STAGED = 'staged_industry_events';

/** Whether the record `e` of the catalogue has an eventUrl, as the unique index knows it. */
const hasUrl = (url: string): string =>
  `event_url_digest(e.event_url) = event_url_digest(${url}) and e.event_url = ${url}`;

/** A stored record brings what one before it brings, or what another one has and the file does not take from it. */
const URL_TAKEN = `
  (select *, min(place) over (partition by event_url) as first_place from ${STAGED} where event_url is not null) s
    join industry_events own on own.id = s.id
    left join industry_events e on ${hasUrl('s.event_url')} and e.id <> s.id
    left join ${STAGED} o on o.id = e.id and o.event_url is distinct from s.event_url
  where s.place > s.first_place or (e.id is not null and o.id is null)`;

/** An eventUrl that its record gives up may be another one's: all are given up before any is taken. */
const GIVE_UP_URLS = `
  update industry_events e set event_url = null, updated_at = coalesce(s.updated_at, now())
  from ${STAGED} s where e.id = s.id and e.event_url is not null and e.event_url is distinct from s.event_url`;

const update = (columns: string[]): string => `
  update industry_events e set ${columns.map((column) => `${column} = s.${column}`).join(', ')},
    created_at = coalesce(s.created_at, e.created_at), updated_at = coalesce(s.updated_at, now())
  from ${STAGED} s where e.id = s.id
    and (${columns.map((column) => `e.${column}`).join(', ')}, e.created_at, e.updated_at) is distinct from
      (${columns.map((c) => `s.${c}`).join(', ')}, coalesce(s.created_at, e.created_at), coalesce(s.updated_at, e.updated_at))`;

/** As with POST, a record that has the eventUrl is taken for a new one, and stays as it is. */
const SAME_URL = `
  update ${STAGED} s set id = e.id from industry_events e
  where ${hasUrl('s.event_url')} and not exists (select from industry_events o where o.id = s.id)`;

/** As texts, since these can be hashed, null or not. */
const whole = (row: string, columns: string[]): string => `row(${columns.map((c) => `${row}.${c}`).join(', ')})::text`;

/** Without an id and an eventUrl, the oldest one that says the same is taken for it. */
const sameWords = (columns: string[]): string => `
  update ${STAGED} s set id = m.id from (
    select distinct on (s.place) s.place, e.id from ${STAGED} s
    join industry_events e on e.name = s.name and ${whole('e', columns)} = ${whole('s', columns)}
    where s.id is null and s.event_url is null order by s.place, e.position
  ) m where m.place = s.place`;

const insert = (columns: string[]): string => `
  with fresh as materialized (
    select *, row_number() over (order by place) - 1 as n from (
      select distinct on (coalesce(s.event_url, s.id::text, ${whole('s', columns)})) s.* from ${STAGED} s
      where not exists (select from industry_events e where e.id = s.id)
      order by coalesce(s.event_url, s.id::text, ${whole('s', columns)}), s.place
    ) firsts
  ), taken as materialized (
    select list_take(0, 'industry_events', count(*)) as start from fresh having count(*) > 0
  )
  insert into industry_events (id, position, created_at, updated_at, ${columns.join(', ')})
  select coalesce(id, uuid_v7()), start + n, coalesce(created_at, now()), coalesce(updated_at, created_at, now()),
    ${columns.join(', ')}
  from fresh, taken order by n`;

/** Of several records that are one, the last one that says so counts. */
const MARKED = `
  (select distinct on (id) id, is_bookmarked from ${STAGED} where is_bookmarked is not null order by id, place desc) m`;

const BOOKMARK = `
  insert into industry_event_bookmarks (organization_id, industry_event_id)
  select $1, m.id from ${MARKED} where is_bookmarked order by m.id on conflict do nothing`;

const REMOVE_BOOKMARKS = `
  delete from industry_event_bookmarks b using ${MARKED}
  where b.organization_id = $1 and b.industry_event_id = m.id and not m.is_bookmarked`;

export const INDUSTRY_EVENTS = datasetOf(IndustryEventRecord, IndustryEventEntity, {
  key: 'id',
  more: {
    isBookmarked: {
      type: 'boolean',
      // Only a bookmark is exported: `false` would take another one away.
      select: `(select true from industry_event_bookmarks b
        where b.organization_id = $1 and b.industry_event_id = t.id)`,
    },
  },
  shared: {
    checks: [{ rows: URL_TAKEN, column: 'event_url', reason: 'is that of another record' }],
    known: `t.id in (select id from ${STAGED}) or t.name in (select name from ${STAGED}) or
      event_url_digest(t.event_url) in (select event_url_digest(event_url) from ${STAGED} where event_url is not null)`,
    move: (given, columns) => [
      ...(given.includes('event_url') ? [GIVE_UP_URLS] : []),
      ...(given.length > 0 ? [update(given)] : []),
      SAME_URL,
      sameWords(columns),
      insert(columns),
      SAME_URL,
      sameWords(columns),
      BOOKMARK,
      REMOVE_BOOKMARKS,
    ],
  },
  csv: {
    fields: [],
    aliases: {
      name: ['Event Name', 'Title', 'Event Title'],
      startDate: ['Start', 'Starts', 'Start Time', 'Begin Date'],
      endDate: ['End', 'Ends', 'End Time'],
      eventUrl: ['URL', 'Link', 'Event Link'],
      venueName: ['Venue'],
      venueCity: ['City', 'Town'],
      venueState: ['State', 'Region'],
      venueCountry: ['Country'],
      venueFullAddress: ['Address', 'Venue Address'],
      numberOfAttendees: ['Attendees'],
      numberOfExhibitors: ['Exhibitors'],
    },
  },
});
