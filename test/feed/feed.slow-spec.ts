/** @jest-environment node */
import type { DataSource } from 'typeorm';
import { complaints, Follower } from '../prove/feed/follower';
import { Writer } from '../prove/feed/writer';
import { Tally } from '../prove/support/ask';
import { Random } from '../prove/support/random';
import { createExhibitor, leadInput } from '../support/builders';
import { asOperator } from '../support/database';
import { Replica } from '../support/replica';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';

// The short run of `npm run prove feed`: it must find what is made wrong on purpose.

const SEED = Number(process.env.FEED_SEED ?? 40);
const WRITERS = 3;
const WRITES = 20;
const IMPORTED = 30;

let lanyard: InProcess;
let db: DataSource;
beforeAll(async () => {
  lanyard = await startInProcess();
  db = await asOperator(lanyard.config.databaseUrl as string);
});

/** Writers of an organization, each with an import of its own. */
function writersOf({ key }: Tenant, random: Random): Writer[] {
  const port = Number(new URL(lanyard.baseUrl).port);
  return Array.from({ length: WRITERS }, () => new Writer(key, () => port, random, new Tally(), IMPORTED));
}

const HABITS = [
  { name: 'in pages of 500', limit: () => 500 },
  { name: 'of some resources', limit: () => 100, resources: 'eventLeads,leads' },
];

/** Writes at random, while followers read and a transaction is open. @returns in what followers differ from the lists */
async function round(tenant: Tenant, writers: Writer[], followers: Follower[]): Promise<string[]> {
  for (const follower of followers) follower.start();
  // Nobody else knows this one, and so nobody waits for it.
  const { body } = await tenant.api.post('/leads', leadInput()).expect(200);
  const open = db.createQueryRunner();
  await open.startTransaction();
  await open.query(`update leads set job_title = 'Later' where id = $1`, [body.results.id]);
  const work = async (writer: Writer): Promise<void> => {
    for (let n = 0; n < WRITES; n++) await writer.write();
  };
  await Promise.all(writers.map(work));
  await Promise.all(followers.map((follower) => follower.catchUp()));
  await open.commitTransaction();
  await open.release();
  await Promise.all(followers.map((follower) => follower.catchUp()));
  return complaints(tenant.api, followers);
}

describe('a replica that follows the feed', () => {
  it('equals the lists, whatever is written and however it is read', async () => {
    const [random, tenant] = [new Random(SEED), await lanyard.tenant()];
    const writers = writersOf(tenant, random);
    const habits = [
      ...HABITS,
      { name: 'in small pages', limit: () => random.pick([1, 3, 7, 50]) },
      { name: 'that goes back', limit: () => random.between(1, 200), repeats: 0.1 },
    ];
    const followers: Follower[] = [];
    for (let n = 0; n < 2; n++) {
      for (const writer of writers) await tenant.import(writer.dataset());
      // Those of earlier rounds go on.
      for (const each of n === 0 ? habits : HABITS.slice(0, 1)) followers.push(new Follower(tenant.api, random, each));
      expect({ round: n, wrong: await round(tenant, writers, followers) }).toEqual({ round: n, wrong: [] });
    }
    const [{ rows }] = await db.query<[{ rows: number }]>('select count(*)::integer as rows from changes');
    expect(rows).toBeGreaterThan(1000);
  }, 60_000);

  it('differs when the reader does not know which transactions were open', async () => {
    const databaseUrl = lanyard.config.databaseUrl as string;
    const name = new URL(databaseUrl).pathname.slice(1);
    // It stands before PostgreSQL's own function for the connections of another server, and knows of none.
    await db.query(`
      create function pg_snapshot_xip(pg_snapshot) returns setof xid8 language sql as 'select null::xid8 limit 0';
      alter database ${name} set search_path = public, pg_catalog`);
    const blind = await startInProcess({ databaseUrl });
    try {
      const [random, tenant] = [new Random(SEED, 1), await lanyard.tenant()];
      const writers = writersOf(tenant, random);
      await tenant.import((writers[0] as Writer).dataset());
      const followers = HABITS.map((habits) => new Follower(blind.client(tenant.key), random, habits));
      expect((await round(tenant, writers, followers)).length).toBeGreaterThan(0);
    } finally {
      await blind.stop();
      await db.query(`
        alter database ${name} reset search_path;
        drop function public.pg_snapshot_xip`);
    }
  }, 60_000);

  it('differs when any of the triggers is off', async () => {
    const triggers = await db.query<{ name: string; of: string }[]>(
      `select tgname as name, tgrelid::regclass::text as of from pg_trigger where tgname like 't60_change_%' order by 2, 1`,
    );
    expect(triggers.length).toBeGreaterThan(20);
    const missed: object[] = [];
    for (const { name, of } of triggers) {
      await db.query(`alter table ${of} disable trigger ${name}`);
      const differences = await changeAll(name.replace('t60_change_', ''));
      await db.query(`alter table ${of} enable trigger ${name}`);
      if (differences.length === 0) missed.push({ name, of });
    }
    expect(missed).toEqual([]);
    expect(await changeAll('deleted')).toEqual([]);
  }, 60_000);
});

const ends = { oldest: 'asc', newest: 'desc' };
const a = (end: keyof typeof ends, table: string, key = 'id'): string =>
  `(select ${key} from ${table} where organization_id = $1 order by ${key === 'id' ? 'position' : key} ${ends[end]} limit 1)`;

/** Records without parts, by which they would be told, too. */
const BARE = [
  `insert into events (organization_id, name, type, registration_enabled) values ($1, 'Bare', 'EVENT', false)`,
  `insert into tag_groups (organization_id, name, status, allows_multiple_selection, display_order, required, all_events)
    values ($1, 'Bare', 'DRAFT', false, 1, false, false)`,
];

/** Changes of each table of the feed, by the names of its triggers: of records, and of parts of others that stay. */
const CHANGES: Record<string, string[]> = {
  inserted: [
    `insert into tag_options (organization_id, tag_group_id, display_order, value) values ($1, ${a('oldest', 'tag_groups')}, 9, 'New')`,
    `insert into event_tag_groups (organization_id, event_id, tag_group_id, position)
      values ($1, ${a('oldest', 'events')}, ${a('newest', 'tag_groups')}, 9)`,
  ],
  updated: [
    `update tag_groups set name = 'Changed' where id = ${a('newest', 'tag_groups')}`,
    `update tag_options set value = 'Changed' where tag_group_id = ${a('oldest', 'tag_groups')}`,
    `update events set name = 'Changed' where id = ${a('newest', 'events')}`,
    `update event_tag_groups set position = 9 - position where event_id = ${a('oldest', 'events')}`,
    `update activations set name = 'Changed' where id = ${a('newest', 'activations')}`,
    `update leads set job_title = 'Changed' where id = ${a('newest', 'leads')}`,
    `update event_leads set checked_in = not checked_in where organization_id = $1`,
    `update lead_activity_events set event_notes = 'Changed' where id = ${a('newest', 'lead_activity_events')}`,
  ],
  deleted: [
    `delete from tag_options where tag_group_id = ${a('oldest', 'tag_groups')} and display_order = 9`,
    `delete from event_tag_groups where event_id = ${a('oldest', 'events')} and tag_group_id = ${a('newest', 'tag_groups')}`,
    `delete from lead_activity_events where id = ${a('newest', 'lead_activity_events')}`,
    `delete from event_leads where event_id = ${a('newest', 'events')}`,
    `delete from activations where id = ${a('newest', 'activations')}`,
    `delete from leads where id = ${a('newest', 'leads')}`,
    `delete from events where id = ${a('newest', 'events')}`,
    `delete from tag_groups where id = ${a('newest', 'tag_groups')}`,
  ],
};

/** Changes a new organization up to a kind of change. @returns in what a replica then differs */
async function changeAll(last: string): Promise<string[]> {
  const tenant = await lanyard.tenant();
  await tenant.import(createExhibitor().dataset);
  const replica = new Replica(tenant.api);
  await replica.follow();
  for (const statement of BARE) await db.query(statement, [tenant.organizationId]);
  await tenant.import(JSON.parse(JSON.stringify(createExhibitor().dataset).replaceAll('"expo"', '"quay"')) as object);
  for (const [kind, statements] of Object.entries(CHANGES)) {
    for (const statement of statements) await db.query(statement, [tenant.organizationId]);
    await replica.follow();
    if (kind === last) break;
  }
  return replica.differences();
}
