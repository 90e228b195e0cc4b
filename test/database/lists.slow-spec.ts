import type { DataSource, EntityManager } from 'typeorm';
import { Random } from '../prove/support/random';
import { filteredList } from '../../src/data/database/paginate';
import { Statements } from '../../src/data/database/statements';
import { EventLeadEntity } from '../../src/contexts/events/event.entity';
import { CheckService } from '../../src/data/schema/check.service';
import { leadInput } from '../support/builders';
import { asOperator } from '../support/database';
import { InProcess, startInProcess, Tenant } from '../support/lanyard';
import { SCHEMA } from '../support/contexts';
import { lockWaits, waitUntil } from '../support/wait';

/** Transactions of each client; raise it for a long run. */
const STEPS = Number(process.env.LISTS_RANDOM_STEPS ?? 40);
const CLIENTS = 8;

let lanyard: InProcess;
let db: DataSource;
beforeAll(async () => {
  lanyard = await startInProcess();
  db = await asOperator(lanyard.config.databaseUrl as string, CLIENTS);
});

/** `$2` leads at the end of the organization's (`$1`) list. */
const ADD_LEADS = `insert into leads (organization_id, position, first_name)
  select $1, (select list_take($1, 'leads', $2::integer)) + n - 1, 'n' from generate_series(1, $2::integer) n`;
const ADD_EVENT = `insert into events (organization_id, name, type, registration_enabled) values ($1, 'n', 'EVENT', false)
  returning id`;
const SOME_LEADS = 'select id from leads where organization_id = $1 order by md5(id::text || $2) limit $3';

/** What one client does in one statement; parameters are the organization, something random, and a number of rows. */
const CHANGES: string[] = [
  `insert into leads (organization_id, first_name) select $1, 'n' || $2::text from generate_series(1, $3)`,
  `delete from leads where id in (${SOME_LEADS})`,
  `insert into event_leads (organization_id, event_id, lead_id, registered, checked_in)
    select $1, (select id from events where organization_id = $1 order by md5(id::text || $2) limit 1), id, true, true
    from (${SOME_LEADS}) l where exists (select from events where organization_id = $1) on conflict do nothing`,
  `delete from event_leads where organization_id = $1 and lead_id in (${SOME_LEADS})`,
  `insert into lead_activity_events (organization_id, event_type, lead_id) select $1, 'NOTE', id from (${SOME_LEADS}) l`,
  `insert into events (organization_id, name, type, registration_enabled)
    select $1, $2::text, 'EVENT', false from generate_series(1, least($3, 2))`,
  `delete from events where id = (
    select id from events where organization_id = $1 and $3::integer > 0 order by md5(id::text || $2) limit 1)`,
  `with gone as (delete from leads where id in (${SOME_LEADS}) returning 1)
    insert into leads (organization_id, first_name) select $1, 'instead' from gone`,
];

/** Two transactions that meet in a row may deadlock, and one that meets a deleted row fails: they are rolled back. */
const ROLLED_BACK = /deadlock detected|violates foreign key/;

async function client(organizationId: number, seed: number): Promise<void> {
  const random = new Random(seed);
  for (let step = 0; step < STEPS; step++) {
    const work = async (manager: EntityManager): Promise<void> => {
      for (let n = random.below(3); n >= 0; n--) {
        await manager.query(random.pick(CHANGES), [organizationId, `${seed}/${step}/${n}`, random.between(1, 40)]);
      }
      if (random.chance(0.25)) throw new Error('rolled back');
    };
    await db
      .transaction(async (manager) => {
        // Several statements over several lists: the organization's lock comes first, as docs/locking.md says.
        await manager.query('select pg_advisory_xact_lock(1767225600, $1)', [organizationId]);
        await work(manager);
      })
      .catch((error: Error) => {
        if (error.message !== 'rolled back' && !ROLLED_BACK.test(error.message)) throw error;
      });
  }
}

const wrongLists = async (): Promise<number> => (await new CheckService(db, SCHEMA).check(false)).lists?.wrong ?? NaN;

/** Pages of the API are those of a full scan: the first, the last, some between, and beyond the end. */
async function checkPages({ api }: Tenant, path: string, scan: string, parameters: unknown[]): Promise<void> {
  const rows = await db.query<{ id: string }[]>(scan, parameters);
  const ids = rows.map(({ id }) => String(id));
  for (const limit of [1, 7, 50]) {
    const last = Math.max(0, Math.ceil(ids.length / limit) - 1);
    for (const offset of new Set([0, 1, last >> 2, last >> 1, Math.max(0, last - 1), last, last + 1, last + 1000])) {
      const { results } = (await api.get(path, { limit, offset }).expect(200)).body;
      const [items] = Object.values(results) as { id?: string; leadId?: string }[][];
      expect(items?.map(({ id, leadId }) => String(id ?? leadId))).toEqual(
        ids.slice(offset * limit, (offset + 1) * limit),
      );
      expect(results.total).toBe(ids.length);
    }
  }
}

const LEADS = 'select id from leads where organization_id = $1 order by position';

describe('a list', () => {
  it('is what a full scan says, after random transactions of eight clients', async () => {
    const tenant = await lanyard.tenant();
    const { organizationId } = tenant;
    await db.query(ADD_LEADS, [organizationId, 700]);
    await db.query(ADD_EVENT, [organizationId]);
    await Promise.all(Array.from({ length: CLIENTS }, (_, n) => client(organizationId, n + 1)));
    expect(await wrongLists()).toBe(0);
    await checkPages(tenant, '/leads', LEADS, [organizationId]);
    await checkPages(tenant, '/events', LEADS.replace('leads', 'events'), [organizationId]);
    await checkPages(tenant, '/leadActivityEvents', LEADS.replace('leads', 'lead_activity_events'), [organizationId]);
    const events = await db.query<{ id: string }[]>('select id from events where organization_id = $1', [
      organizationId,
    ]);
    for (const { id } of events.slice(0, 3)) {
      const scan =
        'select lead_id as id from event_leads where organization_id = $1 and event_id = $2 order by position';
      await checkPages(tenant, `/events/${id}/leads`, scan, [organizationId, id]);
    }
  }, 120_000);

  it('has exact pages when it is long and has holes', async () => {
    const tenant = await lanyard.tenant();
    const { organizationId } = tenant;
    await db.query(ADD_LEADS, [organizationId, 40_000]);
    const remove = (condition: string) =>
      db.query(`delete from leads where organization_id = $1 and ${condition}`, [organizationId]);
    await checkPages(tenant, '/leads', LEADS, [organizationId]);
    await remove('position % 3 = 1');
    await remove('position between 500 and 1500'); // whole counts of 256
    await remove('position between 16384 and 32767'); // and of 16,384
    await remove('position < 3 or position > 39990');
    await checkPages(tenant, '/leads', LEADS, [organizationId]);
    await db.query(ADD_LEADS, [organizationId, 10]);
    await checkPages(tenant, '/leads', LEADS, [organizationId]);
    expect(await wrongLists()).toBe(0);
  }, 120_000);

  it('shows a row no earlier than those that stand before it', async () => {
    const { organizationId, api } = await lanyard.tenant();
    const first = db.createQueryRunner();
    await first.startTransaction();
    await first.query(`insert into leads (organization_id, first_name) values ($1, 'first')`, [organizationId]);
    const second = api.post('/leads', leadInput({ firstName: 'second' })).then((answer) => answer);
    await waitUntil(async () => (await lockWaits(lanyard.config.databaseUrl as string)) === 1);
    expect((await api.get('/leads').expect(200)).body.results.total).toBe(0);
    await first.commitTransaction();
    await first.release();
    expect((await second).status).toBe(200);
    const { leads } = (await api.get('/leads').expect(200)).body.results;
    expect(leads.map(({ firstName }: { firstName: string }) => firstName)).toEqual(['first', 'second']);
  });
});

/** Those who have checked in at the event `$2`. */
const CHECKED_IN = {
  entity: EventLeadEntity,
  rowJson: 'event_leads.lead_id::text',
  where: 'organization_id = $1 and event_id = $2::bigint and checked_in',
};

describe('a filtered list within a parent', () => {
  it('has the order of the unfiltered one, also for rows that were imported', async () => {
    const { organizationId, keyId } = await lanyard.tenant();
    const [{ id: event }] = await db.query<[{ id: string }]>(ADD_EVENT, [organizationId]);
    await db.query(ADD_LEADS, [organizationId, 60]);
    // In an order that is neither that of the leads nor that of their ids.
    await db.query(
      `insert into event_leads (organization_id, event_id, lead_id, registered, checked_in)
        select $1, $2, id, true, position % 3 > 0 from leads where organization_id = $1 order by md5(id::text)`,
      [organizationId, event],
    );
    const statements = lanyard.app.get(Statements);
    const caller = { organizationId, keyId };
    const list = filteredList({ ...CHECKED_IN, name: 'test.checkedIn', valueCount: 1 });
    const pages = await Promise.all(
      [0, 1, 2, 3, 4].map((offset) => statements.paginate(caller, list, [event], { limit: 9, offset })),
    );
    const scan = await db.query<{ id: string }[]>(
      `select lead_id as id from event_leads where organization_id = $1 and event_id = $2 and checked_in order by position`,
      [organizationId, event],
    );
    expect(scan).toHaveLength(40);
    expect(pages.flatMap(({ items }) => items.map(String))).toEqual(scan.map(({ id }) => id));
  });
});

describe('the check of lists', () => {
  let organizationId: number;
  beforeEach(async () => {
    await db.query('delete from organizations');
    ({ organizationId } = await lanyard.tenant());
    await db.query(ADD_LEADS, [organizationId, 600]);
  });

  const ofLeads = `organization_id = $1 and list = 'leads'`;
  it.each([
    ['a total', `update list_counts set rows = rows + 1 where ${ofLeads} and shift = 40`],
    ['a count', `update list_counts set rows = rows - 1 where ${ofLeads} and shift = 8 and bucket = 1`],
    ['a count too many', `insert into list_counts values ($1, 'leads', 8, 99, 1)`],
    ['all counts, which are not there', `delete from list_counts where ${ofLeads}`],
    ['the next position', `update lists set next_position = 3 where ${ofLeads}`],
    ['a list that is not there', `delete from lists where ${ofLeads}`],
  ])('finds %s that is wrong, and makes it right', async (_, spoil) => {
    await db.query(spoil, [organizationId]);
    expect(await new CheckService(db, SCHEMA).check(true)).toMatchObject({ lists: { wrong: 1 } });
    expect(await wrongLists()).toBe(0);
    await db.query(ADD_LEADS, [organizationId, 10]);
    expect(await wrongLists()).toBe(0);
  });
});
