import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DataSource, QueryRunner } from 'typeorm';
import { OrganizationsService } from '../../src/access/organizations.service';
import { Pruner } from '../../src/data/database/pruner';
import { createExhibitor, leadInput } from '../support/builders';
import { asOperator } from '../support/database';
import { EmbeddedFixtures } from '../support/servers/embedded-fixtures';
import type { ApiClient } from '../support/client';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { type ChangesPage, nameOf, Replica } from '../support/replica';
import { describeUnless, missingProgramReason } from '../support/skipping';
import { migrate } from '../support/contexts';
import { waitUntil } from '../support/wait';

let lanyard: InProcess;
let db: DataSource;
let tenant: Tenant;
let made: ReturnType<typeof createExhibitor>;
let event: number;

const connections = 8;
beforeAll(async () => {
  lanyard = await startInProcess();
  db = await asOperator(lanyard.config.databaseUrl as string, connections);
});
beforeEach(async () => {
  tenant = await lanyard.tenant();
  made = createExhibitor();
  event = (await tenant.import(made.dataset)).expo as number;
});

const read = async (query: Record<string, string | number>): Promise<ChangesPage> =>
  (await tenant.api.get('/changes', query).expect(200)).body.results as ChangesPage;
const now = async (resources = 'leads,events'): Promise<string> => (await read({ since: 'now', resources })).cursor;
const following = async (query: Record<string, string | number> = {}): Promise<Replica> => {
  const replica = new Replica(tenant.api, query);
  await replica.follow();
  return replica;
};
const newLead = async (): Promise<string> =>
  (await tenant.api.post('/leads', leadInput()).expect(200)).body.results.id as string;
const retitle = (lead: string, jobTitle: string) => tenant.api.patch(`/leads/${lead}`, { jobTitle }).expect(200);
const gone = (cursor: string) => tenant.api.get('/changes', { cursor }).expect(410, { status: 410, error: 'Gone' });

describe('transactions that end in another order than they began', () => {
  const running: QueryRunner[] = [];
  afterEach(async () => {
    for (const runner of running.splice(0)) {
      if (runner.isTransactionActive) await runner.rollbackTransaction();
      await runner.release();
    }
  });
  /** A transaction that has changed a lead, and is open. */
  const begun = async (lead: string): Promise<QueryRunner> => {
    const runner = db.createQueryRunner();
    running.push(runner);
    await runner.startTransaction();
    await runner.query(`update leads set job_title = 'Later' where id = $1`, [lead]);
    return runner;
  };

  it('are told when they have ended, and nothing waits for them', async () => {
    const other = await newLead();
    const replica = await following();
    const open = await begun(made.lead.id);
    for (const title of ['one', 'two', 'three']) {
      await retitle(other, title);
      expect((await replica.follow()).map(nameOf)).toEqual([`leads ${other}`]);
      expect(await replica.follow()).toEqual([]);
    }
    await open.commitTransaction();
    expect((await replica.follow()).map(nameOf)).toEqual([`leads ${made.lead.id}`]);
    expect(await replica.follow()).toEqual([]);
    expect(await replica.differences()).toEqual([]);
  });

  it.each([1, 100])('are told once each, in pages of %i', async (limit) => {
    const leads = [made.lead.id, await newLead(), await newLead(), await newLead()];
    const names = leads.map((lead) => `leads ${lead}`);
    const replica = await following({ limit });
    const open: QueryRunner[] = [];
    for (const lead of leads) open.push(await begun(lead));
    for (const n of [2, 0, 3, 1]) {
      await retitle(await newLead(), 'meanwhile');
      await open[n]?.commitTransaction();
      const told = (await replica.follow()).map(nameOf).filter((name) => names.includes(name));
      expect(told).toEqual([`leads ${leads[n]}`]);
      expect(await replica.differences()).toEqual([]);
    }
    expect(await replica.follow()).toEqual([]);
  });

  it('are told to a first reading that began while they were open', async () => {
    const replica = new Replica(tenant.api, { limit: 2 });
    const open = await begun(made.lead.id);
    const { cursor, changes } = await replica.page();
    changes.forEach((change) => replica.apply(change));
    replica.cursor = cursor;
    await newLead();
    await open.commitTransaction();
    await replica.follow();
    expect(replica.records.get(`leads ${made.lead.id}`)).toMatchObject({ jobTitle: 'Later' });
    expect(await replica.differences()).toEqual([]);
  });

  it('are never told when they were rolled back', async () => {
    const replica = await following();
    const open = await begun(made.lead.id);
    await retitle(await newLead(), 'meanwhile');
    await open.rollbackTransaction();
    expect((await replica.follow()).map(nameOf)).not.toContain(`leads ${made.lead.id}`);
  });
});

describe('a cursor whose place is no longer kept is refused', () => {
  it('after the log was emptied', async () => {
    const cursor = await now();
    await db.query('truncate changes');
    await gone(cursor);
    expect((await read({ cursor: await now() })).changes).toEqual([]);
  });

  it('after the log was put in the place of another one, with all its rows', async () => {
    await retitle(made.lead.id, 'before');
    const cursor = await now();
    await db.query(`create table other (like changes including all);
      insert into other overriding system value select * from changes;
      drop table changes; alter table other rename to changes;
      create trigger t60_new_generation after truncate on changes execute function new_generation()`);
    await gone(cursor);
  });

  it('when the change that it told last is another one', async () => {
    const cursor = await now();
    await db.query(`update changes set at = at - interval '1 second' where organization_id = $1`, [
      tenant.organizationId,
    ]);
    await gone(cursor);
  });

  it('during a first reading', async () => {
    const { cursor } = await read({ limit: 1 });
    await db.query('truncate changes');
    await gone(cursor);
  });

  const NO_PG_DUMP =
    missingProgramReason('pg_dump', 'pg_restore') ||
    (Number(process.env.LANYARD_TEST_SERVER_MAJOR) > 15 ? ' (skipped: pg_dump may be too old)' : '');
  describeUnless(NO_PG_DUMP)(`by a dump${NO_PG_DUMP}`, () => {
    it('that was restored in place of what was there', async () => {
      const [run, folder] = [promisify(execFile), mkdtempSync(join(tmpdir(), 'lanyard-changes-'))];
      try {
        const [file, url] = [join(folder, 'dump'), lanyard.config.databaseUrl as string];
        const cursor = await now();
        await run('pg_dump', ['-Fc', '-f', file, url]);
        await newLead();
        await run('pg_restore', ['--clean', '--no-owner', '--exit-on-error', '--single-transaction', '-d', url, file]);
        await gone(cursor);
        expect(await (await following()).differences()).toEqual([]);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  });
});

describe('a copy of the files of a database', () => {
  const embedded = new EmbeddedFixtures();
  afterAll(() => embedded.clean());

  it('that is put back in its place knows the cursors of before, and refuses those of what was lost', async () => {
    const [dataDir, copy] = [embedded.dataDir(), embedded.dataDir()];
    const serve = async (): Promise<{ server: InProcess; stop: () => Promise<void> }> => {
      const postgres = await embedded.start({ dataDir });
      await migrate(postgres.url);
      const server = await startInProcess({ databaseUrl: postgres.url });
      return { server, stop: () => server.stop().then(() => postgres.stop()) };
    };
    const changesAfter = (api: ApiClient, cursor: string) => api.get('/changes', { cursor });
    const cursorNow = async (api: ApiClient) =>
      (await api.get('/changes', { since: 'now' }).expect(200)).body.results.cursor as string;

    let { server, stop } = await serve();
    const { key, api } = await server.tenant();
    await api.post('/leads', leadInput()).expect(200);
    const before = await cursorNow(api);
    await stop();
    execFileSync('cp', ['-a', dataDir, copy]);

    ({ server, stop } = await serve());
    await server.client(key).post('/leads', leadInput()).expect(200);
    const lost = await cursorNow(server.client(key));
    await stop();
    rmSync(dataDir, { recursive: true });
    execFileSync('cp', ['-a', copy, dataDir]);

    ({ server, stop } = await serve());
    const client = server.client(key);
    await changesAfter(client, lost).expect(410);
    // Its numbers are given again.
    for (let n = 0; n < 3; n++) await client.post('/leads', leadInput()).expect(200);
    await changesAfter(client, lost).expect(410);
    expect((await changesAfter(client, before).expect(200)).body.results.changes).toHaveLength(3);
    await stop();
  }, 90_000);
});

describe('what is swept', () => {
  /** All changes that are there become older than they are kept. */
  /** Transactions of other suites that began before a change stand in each cursor, and a sweep goes past them when they end. */
  const areOldOnesOver = async (): Promise<boolean> => {
    const [row] = await db.query<{ over: boolean }[]>(
      `select max(xid) < pg_snapshot_xmin(pg_current_snapshot())::text::bigint as over from changes
        where organization_id = $1`,
      [tenant.organizationId],
    );
    return row?.over ?? true;
  };
  const age = (condition = 'true') =>
    db.query(`update changes set at = at - interval '31 days' where organization_id = $1 and ${condition}`, [
      tenant.organizationId,
    ]);
  const sweep = () => lanyard.app.get(Pruner).prune();
  /** Nothing is removed that is newer than an open transaction, of which other suites have some. */
  const sweepAll = () =>
    waitUntil(async () => {
      await sweep();
      const rows = await db.query(
        `select from changes where organization_id = $1 and operation <> 's' and at < now() - interval '30 days'`,
        [tenant.organizationId],
      );
      return rows.length === 0;
    });
  const kept = (): Promise<{ resource: number; rows: number; swept: number }[]> =>
    db.query(
      `select resource, count(*)::integer as rows, count(*) filter (where operation = 's')::integer as swept
        from changes where organization_id = $1 group by 1 order by 1`,
      [tenant.organizationId],
    );

  it('is old, and a cursor from before it is refused', async () => {
    await age();
    const before = await now();
    await retitle(made.lead.id, 'one');
    await retitle(made.lead.id, 'two');
    await age("at > now() - interval '1 day'");
    await sweepAll();
    await gone(before);
  });

  it('leaves one row of each resource, and what is young', async () => {
    await age();
    await retitle(made.lead.id, 'young');
    await sweepAll();
    const rows = await kept();
    expect(rows.map(({ resource }) => resource)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(rows.every(({ resource, rows, swept }) => swept === 1 && rows === (resource === 4 ? 2 : 1))).toBe(true);
    await sweepAll();
    expect(await kept()).toEqual(rows);
  });

  it('does not touch a cursor of a resource in which nothing happened', async () => {
    await age();
    await waitUntil(areOldOnesOver);
    const events = await following({ resources: 'events' });
    await retitle(made.lead.id, 'one');
    await retitle(made.lead.id, 'two');
    await age('resource = 4');
    await sweepAll();
    expect(await events.follow()).toEqual([]);
    await tenant.api.delete(`/events/${event}`).expect(200);
    expect((await events.follow()).map(nameOf)).toEqual([`events ${event}`]);
  });

  it('does not touch a cursor that has told all of it', async () => {
    const replica = await following();
    await retitle(made.lead.id, 'told');
    await replica.follow();
    await age();
    await waitUntil(areOldOnesOver);
    // What was told last is known by its time, too.
    const later = await following();
    await sweepAll();
    expect(await later.follow()).toEqual([]);
    await retitle(made.lead.id, 'young');
    expect((await later.follow()).map(nameOf)).toEqual([`leads ${made.lead.id}`]);
  });

  it('goes in batches until all is removed', async () => {
    await db.query(
      `insert into changes (organization_id, resource, operation, id, at)
        select $1, 4, 'u', gen_random_uuid(), now() - interval '31 days' from generate_series(1, 2500)`,
      [tenant.organizationId],
    );
    await age();
    await sweepAll();
    expect((await kept()).every(({ rows, swept }) => rows === 1 && swept === 1)).toBe(true);
  });

  it('is nothing that is newer than an open transaction: cursors have that before them', async () => {
    const open = db.createQueryRunner();
    await open.startTransaction();
    await open.query('select pg_current_xact_id()');
    try {
      await retitle(made.lead.id, 'one');
      await retitle(await newLead(), 'two');
      await age();
      const replica = await following();
      await sweep();
      expect(await replica.follow()).toEqual([]);
    } finally {
      await open.rollbackTransaction();
      await open.release();
    }
  });

  it('has no remote ids of a lead that is gone', async () => {
    await tenant.api.delete(`/leads/${made.lead.id}`).expect(200);
    await age();
    await sweepAll();
    const rows = await db.query('select from changes where organization_id = $1 and remote_ids is not null', [
      tenant.organizationId,
    ]);
    expect(rows).toEqual([]);
  });

  it('is all of an organization that is deleted', async () => {
    await lanyard.app.get(OrganizationsService).delete(tenant.organizationId);
    expect(await kept()).toEqual([]);
  });
});

describe('large records', () => {
  const LEADS = 130;
  const prose = 'x'.repeat(65_000);

  it('end a page early, and none is lost', async () => {
    const replica = await following();
    await db.query(
      `insert into leads (organization_id, first_name, description, address)
        select $1, n::text, $2, $2 from generate_series(1, ${LEADS}) n`,
      [tenant.organizationId, prose],
    );
    const { changes, hasMore } = await replica.page({ limit: 500 });
    expect(hasMore).toBe(true);
    expect(changes.length).toBeLessThanOrEqual(50);
    expect(await replica.follow()).toHaveLength(LEADS);
    expect((await replica.page()).changes).toEqual([]);
    const again = new Replica(tenant.api, { limit: 500 });
    await again.follow();
    expect(again.changes.filter(({ resource }) => resource === 'leads')).toHaveLength(LEADS + 1);
    expect([...again.records]).toEqual(expect.arrayContaining([...replica.records]));
  }, 60_000);
});

describe('a lead that a start derives anew', () => {
  it('is told when it shows something else', async () => {
    await db.query(`
      begin;
      alter table leads disable trigger t20_render;
      update leads set document = '{}' where id = '${made.lead.id}';
      alter table leads enable trigger t20_render;
      update derived_columns set version = 'of an older one', last_id = null where name = 'documents';
      commit`);
    const cursor = await now();
    await newLead();
    await migrate(lanyard.config.databaseUrl as string);
    const { changes } = await read({ cursor });
    expect(changes.map(({ operation, id }) => [operation, id])).toEqual([
      ['created', expect.any(String)],
      ['updated', made.lead.id],
    ]);
  });
});
