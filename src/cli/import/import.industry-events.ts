import type { EntityManager } from 'typeorm';
import { v7 as uuid } from 'uuid';
import { violates } from '../../database/errors';
import type { IndustryEventRecord } from './dataset';
import { CATALOGUE, lockOrganization } from '../../database/locks';
import { Placed, Scope } from './import.checks';
import { fieldOf, recordset } from './upsert';

/** Columns of a record of the catalogue with their types. */
const COLUMNS: Record<string, string> = {
  name: 'text',
  start_date: 'timestamptz',
  end_date: 'timestamptz',
  source_type: 'text',
  source_id: 'text',
  event_type: 'text',
  venue_city: 'text',
  venue_state: 'text',
  venue_country: 'text',
  venue_name: 'text',
  venue_full_address: 'text',
  venue_coordinates: 'text',
  number_of_attendees: 'integer',
  number_of_exhibitors: 'integer',
  attendee_cost: 'text',
  booth_cost: 'text',
  exhibitor_industries: 'text[]',
  attendee_personas: 'text[]',
  keywords: 'text[]',
  website: 'text',
  description: 'text',
  event_url: 'text',
};
const names = Object.keys(COLUMNS);
const fields = names.map(fieldOf) as (keyof IndustryEventRecord)[];

const GIVEN = recordset(
  {
    id: 'uuid',
    has_id: 'boolean',
    position: 'integer',
    list_position: 'bigint',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    ...COLUMNS,
  },
  '$1',
);

/** Whether the record `e` of the catalogue has an eventUrl, as the unique index knows it. */
const hasUrl = (url: string): string =>
  `event_url_digest(e.event_url) = event_url_digest(${url}) and e.event_url = ${url}`;

/** An eventUrl that its record gives up may be another one's: all are given up before any is taken. */
const GIVE_UP_URLS = `
  update industry_events e set event_url = null, updated_at = coalesce(r.updated_at, now())
  from ${GIVEN} join industry_events before on before.id = r.id
  where e.id = r.id and e.event_url is not null and e.event_url is distinct from r.event_url
  returning before.event_url as "eventUrl"`;

/** Which of those that are stored bring an eventUrl that another one has. */
const WITHOUT_URL = `
  select r.position from ${GIVEN} join industry_events e on ${hasUrl('r.event_url')} and e.id <> r.id
  where exists (select from industry_events where id = r.id)`;

/** Stored records that the dataset means by their id, where they differ. */
const UPDATE = `
  update industry_events e set ${names.map((c) => `${c} = r.${c}`).join(', ')},
    created_at = coalesce(r.created_at, e.created_at), updated_at = coalesce(r.updated_at, now())
  from ${GIVEN}
  where e.id = r.id and (${names.map((c) => `e.${c}`).join(', ')}, e.created_at, coalesce(r.updated_at, e.updated_at))
    is distinct from (${names.map((c) => `r.${c}`).join(', ')}, coalesce(r.created_at, e.created_at), e.updated_at)`;

const whole = (row: string): string => `row(${names.map((column) => `${row}.${column}`).join(', ')})::text`;

/**
 * Which record one without an id and an eventUrl is: the oldest stored one that says all that it says. As texts, since
 * these can be hashed, null or not.
 */
const ALIKE = `
  with given as materialized (select r.position, r.name, ${whole('r')} as whole from ${GIVEN}),
    stored as materialized (
      select e.id, e.position as arrival, ${whole('e')} as whole from industry_events e where e.name in (select name from given)
    )
  select distinct on (position) position, id from given join stored using (whole) order by position, arrival`;

/**
 * New ones. A record whose id or eventUrl is stored already is left as it stands.
 * @returns those whose id is not stored: another one is taken for them, by its eventUrl
 */
const INSERT = `
  with inserted as (
    insert into industry_events (id, position, created_at, updated_at, ${names.join(', ')})
    select r.id, r.list_position, coalesce(r.created_at, now()), coalesce(r.updated_at, r.created_at, now()),
      ${names.map((c) => `r.${c}`).join(', ')}
    from ${GIVEN} order by r.position on conflict do nothing returning id
  )
  select r.position from ${GIVEN}
  where r.has_id and r.id not in (select id from inserted)
    and not exists (select from industry_events where id = r.id)`;

const BOOKMARK = `
  insert into industry_event_bookmarks (organization_id, industry_event_id)
  select distinct $1::integer, e.id from unnest($2::uuid[], $3::text[]) as b(id, url)
  join industry_events e on e.id = b.id or (${hasUrl('b.url')})
  on conflict do nothing`;

const REMOVE_BOOKMARKS = `
  delete from industry_event_bookmarks b using industry_events e
  where b.organization_id = $1 and e.id = b.industry_event_id and (e.id = any($2::uuid[]) or e.event_url = any($3::text[]))`;

type Row = IndustryEventRecord & { id: string; hasId: boolean; position: number; listPosition: number };

/**
 * The catalogue's records: matched by id where one is given, else added unless their eventUrl is known or, without one,
 * all that they say.
 */
export async function writeIndustryEvents(scope: Scope, batch: Placed<IndustryEventRecord>[]): Promise<void> {
  // Two imports that bring the same URLs in another order would lock each other out.
  await lockOrganization(scope.manager, CATALOGUE);
  const [{ start }] = await scope.manager.query<[{ start: string }]>(
    `select list_take(0, 'industry_events', $1) as start`,
    [batch.length],
  );
  const first = Number(start) - (batch[0]?.position ?? 0);
  for (const round of rounds(batch)) await writeRound(scope, round, first);
}

/**
 * Parted so that of records that may be the same one each round holds one, after those that stand before it: those with
 * one id or eventUrl, and, because any with an id may be meant by what it has or had, those with and those without.
 */
function rounds(batch: Placed<IndustryEventRecord>[]): Placed<IndustryEventRecord>[][] {
  const all: Placed<IndustryEventRecord>[][] = [];
  const next = new Map<string, number>();
  for (const placed of batch) {
    const keys = keysOf(placed.record);
    const [kind, other] = placed.record.id ? ['with', 'without'] : ['without', 'with'];
    const round = Math.max(...[...keys, other].map((key) => next.get(key) ?? 0));
    (all[round] ??= []).push(placed);
    for (const key of [...keys, kind]) next.set(key, Math.max(round + 1, next.get(key) ?? 0));
  }
  return all;
}

function keysOf(record: IndustryEventRecord): string[] {
  const { id, eventUrl } = record;
  if (id) return eventUrl ? [id, eventUrl] : [id];
  return [eventUrl ?? JSON.stringify(fields.map((field) => record[field] ?? null))];
}

/** @param first the position in the list of the section's first record */
async function writeRound(scope: Scope, round: Placed<IndustryEventRecord>[], first: number): Promise<void> {
  const { manager, organizationId, eventUrls } = scope;
  const given = round.map(({ record, position: place }, position): Row => ({
    ...record,
    id: record.id ?? uuid(),
    hasId: record.id !== undefined,
    position,
    listPosition: first + place,
  }));
  const meant = given.filter(({ hasId }) => hasId);
  const without = await update(scope, meant);
  const rows = await recognized(manager, withoutUrls(given, without));
  const taken = await positions(manager, INSERT, rows);
  for (const { id, eventUrl, position } of meant) {
    const isNew = taken.has(position);
    if (eventUrl && (isNew || without.has(position))) {
      eventUrls.wait({ id, eventUrl, place: String(round[position]?.place), isNew });
    }
  }
  for (const [statement, wanted] of [
    [BOOKMARK, true],
    [REMOVE_BOOKMARKS, false],
  ] as const) {
    const marked = rows.filter(({ isBookmarked }) => isBookmarked === wanted);
    const ids = marked.map(({ id }) => id);
    const urls = marked.map(({ eventUrl }) => eventUrl ?? null);
    if (marked.length > 0) await manager.query(statement, [organizationId, ids, urls]);
  }
}

const withoutUrls = (rows: Row[], those: Set<number>): Row[] =>
  rows.map((row) => (those.has(row.position) ? { ...row, eventUrl: null } : row));

async function positions(manager: EntityManager, sql: string, rows: Row[]): Promise<Set<number>> {
  const found = await manager.query<{ position: number }[]>(sql, [JSON.stringify(rows)]);
  return new Set(found.map(({ position }) => position));
}

/**
 * Changes those that are stored.
 * @returns the positions of those that have no eventUrl now, because another one has it
 */
async function update({ manager, eventUrls }: Scope, rows: Row[]): Promise<Set<number>> {
  if (rows.length === 0) return new Set();
  for (const { id } of rows) eventUrls.forget(id);
  const [givenUp] = await manager.query<[{ eventUrl: string }[], number]>(GIVE_UP_URLS, [JSON.stringify(rows)]);
  await eventUrls.passOn(givenUp.map(({ eventUrl }) => eventUrl));
  for (;;) {
    const without = await positions(manager, WITHOUT_URL, rows);
    await manager.query('savepoint before_update');
    try {
      await manager.query(UPDATE, [JSON.stringify(withoutUrls(rows, without))]);
      await manager.query('release savepoint before_update');
      return without;
    } catch (error) {
      if (!violates(error, 'industry_events_event_url_key')) throw error;
      await manager.query('rollback to savepoint before_update'); // a client took one of them: now it is seen
    }
  }
}

/** The rows, of which those that nothing but what they say can tell have the ids of the records that say the same. */
async function recognized(manager: EntityManager, rows: Row[]): Promise<Row[]> {
  const others = rows.filter(({ hasId, eventUrl }) => !hasId && !eventUrl);
  if (others.length === 0) return rows;
  const alike = await manager.query<{ position: number; id: string }[]>(ALIKE, [JSON.stringify(others)]);
  const ids = new Map(alike.map(({ position, id }) => [position, id]));
  return rows.map((row) => ({ ...row, id: ids.get(row.position) ?? row.id }));
}
