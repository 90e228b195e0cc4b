import type { EntityManager } from 'typeorm';
import { v7 as uuid } from 'uuid';
import { violates } from '../database/errors';
import type { IndustryEventRecord } from './dataset';
import { ImportFault } from './import-fault';
import { IMPORT_LOCK, Placed, Scope } from './import.checks';
import { lastOfEach, Row } from './upsert';

/** Columns of a record of the catalogue with their types; the API's names of them follow from these. */
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
const apiName = (column: string): string => column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const recordset = (parameter: string): string => `json_to_recordset(${parameter}::json) as r(id uuid, position integer,
  created_at timestamptz, updated_at timestamptz, ${names.map((c) => `${c} ${COLUMNS[c]}`).join(', ')})`;

/** Stored records that the dataset means by their id, where they differ. */
const UPDATE = `
  update industry_events e set ${names.map((c) => `${c} = r.${c}`).join(', ')},
    created_at = coalesce(r.created_at, e.created_at), updated_at = coalesce(r.updated_at, now())
  from ${recordset('$1')}
  where e.id = r.id and (${names.map((c) => `e.${c}`).join(', ')}, e.created_at, coalesce(r.updated_at, e.updated_at))
    is distinct from (${names.map((c) => `r.${c}`).join(', ')}, coalesce(r.created_at, e.created_at), e.updated_at)`;

/** Which of them bring an eventUrl that another stored record has. */
const CLASHING = `
  select r.position from ${recordset('$1')} join industry_events e
    on event_url_digest(e.event_url) = event_url_digest(r.event_url) and e.event_url = r.event_url and e.id <> r.id
  where exists (select from industry_events where id = r.id) order by r.position limit 1`;

/** The oldest stored record that says all that one without an id and an eventUrl says: it is the same. */
const ALIKE = `
  select distinct on (r.position) r.position, e.id from ${recordset('$1')} join industry_events e
    on e.name = r.name and (${names.map((c) => `e.${c}`).join(', ')}) is not distinct from (${names.map((c) => `r.${c}`).join(', ')})
  order by r.position, e.created_at, e.id`;

/** New ones. A record whose id or eventUrl is stored already, or came before, is left as it stands. */
const INSERT = `
  insert into industry_events (id, created_at, updated_at, ${names.join(', ')})
  select r.id, coalesce(r.created_at, now()), coalesce(r.updated_at, r.created_at, now()),
    ${names.map((c) => `r.${c}`).join(', ')}
  from ${recordset('$1')} order by r.position on conflict do nothing`;

const BOOKMARK = `
  insert into industry_event_bookmarks (organization_id, industry_event_id)
  select distinct $1::integer, e.id from unnest($2::uuid[], $3::text[]) as b(id, url)
  join industry_events e on e.id = b.id
    or (event_url_digest(e.event_url) = event_url_digest(b.url) and e.event_url = b.url)
  on conflict do nothing`;

const REMOVE_BOOKMARKS = `
  delete from industry_event_bookmarks b using industry_events e
  where b.organization_id = $1 and e.id = b.industry_event_id and (e.id = any($2::uuid[]) or e.event_url = any($3::text[]))`;

async function update(manager: EntityManager, rows: Row[], batch: Placed<IndustryEventRecord>[]): Promise<void> {
  const values = [JSON.stringify(rows)];
  await manager.query('savepoint before_update');
  try {
    await manager.query(UPDATE, values);
  } catch (error) {
    if (!violates(error, 'industry_events_event_url_key')) throw error;
    await manager.query('rollback to savepoint before_update');
    const [clashing] = await manager.query<{ position: number }[]>(CLASHING, values);
    // Two of them have the same, which nobody else has.
    const twice = rows.find(({ event_url: url }, at) => url && rows.findIndex((row) => row.event_url === url) < at);
    const position = clashing?.position ?? Number(twice?.position);
    throw new ImportFault(`${batch[position]?.place}.eventUrl: another record has it`, position);
  }
  await manager.query('release savepoint before_update');
}

/**
 * The catalogue's records: matched by id where one is given, else added unless their eventUrl is known or, without one,
 * all that they say.
 */
export async function writeIndustryEvents(scope: Scope, all: Placed<IndustryEventRecord>[]): Promise<void> {
  const batch = lastOfEach(all, ({ record, place }) => record.id ?? (record.eventUrl ? place : JSON.stringify(record)));
  const { manager, organizationId } = scope;
  // Two imports that bring the same URLs in another order would lock each other out.
  await manager.query('select pg_advisory_xact_lock($1, 0)', [IMPORT_LOCK]);
  const rows = batch.map(({ record }, position) => {
    const values = record as unknown as Record<string, unknown>;
    const columns = Object.fromEntries(names.map((column) => [column, values[apiName(column)]]));
    return {
      ...columns,
      position,
      id: record.id ?? uuid(),
      created_at: record.createdAt,
      updated_at: record.updatedAt,
    };
  });
  const meant = rows.filter((_, index) => batch[index]?.record.id);
  if (meant.length > 0) await update(manager, meant, batch);
  const unmarked = rows.filter((_, index) => !batch[index]?.record.id && !batch[index]?.record.eventUrl);
  if (unmarked.length > 0) {
    const stored = await manager.query<{ position: number; id: string }[]>(ALIKE, [JSON.stringify(unmarked)]);
    const ids = new Map(stored.map(({ position, id }) => [position, id]));
    for (const row of unmarked) row.id = ids.get(row.position) ?? row.id;
  }
  await manager.query(INSERT, [JSON.stringify(rows)]);
  for (const [statement, wanted] of [
    [BOOKMARK, true],
    [REMOVE_BOOKMARKS, false],
  ] as const) {
    const marked = batch.flatMap(({ record }, index) => (record.isBookmarked === wanted ? [index] : []));
    const ids = marked.map((index) => rows[index]?.id);
    const urls = marked.map((index) => batch[index]?.record.eventUrl ?? null);
    if (marked.length > 0) await manager.query(statement, [organizationId, ids, urls]);
  }
}
