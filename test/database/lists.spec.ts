import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { DataSource, type QueryRunner } from 'typeorm';
import { operatorDataSourceOptions } from '../../src/database/data-source';
import { CheckService } from '../../src/cli/check/check.service';
import { eventInput, exhibitor, leadInput } from '../support/builders';
import { lockWaits, until } from '../support/embedded-fixtures';
import { InProcess, startInProcess, Tenant } from '../support/lanyard';

/** Steps of each random run; raise it for a long run. */
const STEPS = Number(process.env.LISTS_RANDOM_STEPS ?? 12);

let lanyard: InProcess;
/** An operator's: the server's connections have little patience. */
let db: DataSource;
beforeAll(async () => {
  lanyard = await startInProcess();
  db = await new DataSource(operatorDataSourceOptions(lanyard.config.databaseUrl as string)).initialize();
});
afterAll(async () => {
  await db.destroy();
  await lanyard.stop();
});

const INSERT = `
  insert into leads (id, organization_id, created_at, first_name)
  select gen_random_uuid(), $1, timestamptz '2026-01-01Z' + $2 * interval '1 hour' + g % $4 * interval '1 second', 'n'
  from generate_series(1, $3::integer) g`;

/** SQL of new tag groups, named by their numbers `n`, at moments from the beginning of 2026 that are told as SQL. */
const newGroups = (organization: number | string, from: number, to: number, at: string): string => `
  insert into tag_groups (id, organization_id, created_at, name, status, allows_multiple_selection, display_order,
    required, all_events)
  select gen_random_uuid(), ${organization}, timestamptz '2026-01-01Z' + ${at}, n::text, 'PUBLISHED', false, 1, false, false
  from generate_series(${from}, ${to}) n`;

/** Rows that a step moves, at most: they are counted one by one. */
const MOST_MOVED = 100;

/** One way in which rows come, go or move, on a list of leads. */
type Step = { of: 'add' | 'remove' | 'move' | 'import'; hour: number; rows: number; spread: number };
const step: fc.Arbitrary<Step> = fc.record({
  of: fc.constantFrom('add', 'add', 'remove', 'remove', 'import', 'move'),
  hour: fc.integer({ min: 0, max: 6 }),
  rows: fc.constantFrom(1, 1, 30, 700, 2500, 6000),
  spread: fc.constantFrom(1, 60, 4000),
});

async function run({ of, hour, rows, spread }: Step, organization: number): Promise<void> {
  const add = [INSERT, [organization, hour, rows, spread]] as const;
  const someOf = `select id from leads where organization_id = $1
    and created_at >= timestamptz '2026-01-01Z' + $2 * interval '1 hour' order by created_at, id limit $3`;
  const remove = [`delete from leads where id in (${someOf})`, [organization, hour, rows]] as const;
  const move = [
    `update leads set created_at = created_at - interval '3 hours' where id in (${someOf})`,
    [organization, hour, Math.min(rows, MOST_MOVED)],
  ] as const;
  if (of === 'add') await db.query(...add);
  else if (of === 'remove') await db.query(...remove);
  else if (of === 'move') await db.query(...move);
  else {
    await db.transaction(async (manager) => {
      await manager.query('select defer_lists()');
      await manager.query(...add);
      await manager.query(remove[0], [organization, hour, 20]);
      if (rows === 30) await manager.query(...move);
      await manager.query('select settle_lists()');
    });
  }
}

/** A boundary of a list: its block, and the rows before it as the list says and as a full scan does. */
interface Boundary {
  block: number;
  place: number;
  drawn: number;
}

async function boundariesOf(organization: number, table = 'leads'): Promise<Boundary[]> {
  return db.query<Boundary[]>(
    `with kept as (
        select r.at, r.id, b.block, (l.ranks[array_position(l.blocks, b.block)] + r.rank)::integer as place
        from lists l join list_blocks b on b.list = l.id, unnest(b.moments, b.ids, b.ranks) r (at, id, rank)
        where l.name = $2 and l.organization_id = $1
      )
      select block, place, drawn from (
        select at, id, block, place, (sum(row) over (order by at, id, row))::integer as drawn from (
          select at, id, block, place, 0 as row from kept
          union all select created_at, id, null, null, 1 from ${table} where organization_id = $1
        ) rows
      ) counted where place is not null order by at, id`,
    [organization, table],
  );
}

/**
 * What is kept of an organization's leads is what a full scan says; the boundaries are as close as promised.
 * @param moved rows that have moved, not in an import: for them nothing is drawn
 */
async function checkList(organization: number, moved = 0): Promise<void> {
  const [list] = await db.query<{ total: number; tail: number; blocks: number[] }[]>(
    `select total::integer, tail::integer, blocks from lists where name = 'leads' and organization_id = $1`,
    [organization],
  );
  const [{ rows }] = await db.query<[{ rows: number }]>(
    'select count(*)::integer as rows from leads where organization_id = $1',
    [organization],
  );
  const boundaries = await boundariesOf(organization);
  const places = boundaries.map(({ place }) => place);
  expect(places).toEqual(boundaries.map(({ drawn }) => drawn));
  expect(list).toEqual({
    total: rows,
    tail: rows - (places.at(-1) ?? 0),
    blocks: [...new Set(boundaries.map(({ block }) => block))],
  });
  const widths = [...places, rows].map((place, index) => place - (places[index - 1] ?? 0));
  expect(Math.max(...widths)).toBeLessThanOrEqual(2000 + moved);
  expect(new Set(boundaries.map(({ block, place }) => `${block} ${place}`)).size).toBe(places.length);
}

/** Pages of the API are those of a full scan: the first, the last, some between, and where blocks of the list begin. */
async function checkPages({ api, organizationId }: Tenant, limit: number): Promise<void> {
  const scan = await db.query<{ id: string }[]>(
    'select id from leads where organization_id = $1 order by created_at, id',
    [organizationId],
  );
  const last = Math.max(0, Math.ceil(scan.length / limit) - 1);
  const [list] = await db.query<{ ranks: string[] }[]>(
    `select ranks from lists where name = 'leads' and organization_id = $1`,
    [organizationId],
  );
  const begins = (list?.ranks ?? []).map((rank) => Math.floor(Number(rank) / limit));
  const around = begins.flatMap((page) => [page, page + 1]);
  for (const offset of new Set([0, 1, last >> 2, last >> 1, last - 1, last, last + 1, ...around])) {
    if (offset < 0) continue;
    const { results } = (await api.get('/leads', { limit, offset }).expect(200)).body;
    const expected = scan.slice(offset * limit, (offset + 1) * limit).map(({ id }) => id);
    expect(results.leads.map(({ id }: { id: string }) => id)).toEqual(expected);
    expect(results.total).toBe(scan.length);
  }
}

/** What is checked next is then not checked beside what the tests before have left. */
const removeAll = (): Promise<unknown> =>
  db.query(`set local session_replication_role = replica;
    truncate organizations, industry_events, industry_event_words, industry_event_word_counts, lists cascade`);

describe('a tracked list', () => {
  afterEach(removeAll);
  it('is what a full scan says, after any changes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: STEPS, maxLength: STEPS }),
        fc.integer({ min: 7, max: 50 }),
        async (steps, limit) => {
          const tenant = await lanyard.tenant();
          await db.query(...([INSERT, [tenant.organizationId, 2, 2500, 4000]] as const));
          let moved = 0;
          for (const each of steps) {
            await run(each, tenant.organizationId);
            if (each.of === 'move') moved += Math.min(each.rows, MOST_MOVED);
            await checkList(tenant.organizationId, moved);
          }
          await checkPages(tenant, limit);
          expect((await new CheckService(db).check(false)).lists.wrong).toBe(0);
        },
      ),
      { seed: 1, numRuns: 3 },
    );
  }, 240_000);

  it('takes rows at the end, by the thousand, without being drawn anew', async () => {
    const tenant = await lanyard.tenant();
    for (let hour = 0; hour < 8; hour++) await db.query(INSERT, [tenant.organizationId, hour, 700, 4000]);
    await checkList(tenant.organizationId);
    await checkPages(tenant, 50);
    // 5,600 rows in spans of 64, of which the last ones, up to two spans, have none yet
    const boundaries = await boundariesOf(tenant.organizationId);
    expect(boundaries.length).toBeGreaterThanOrEqual(5600 / 64 - 2);
    expect(new Set(boundaries.map(({ block }) => block)).size).toBe(3);
  });

  it('keeps no boundaries of rows that came and went', async () => {
    const { organizationId } = await lanyard.tenant();
    for (const staying of [1, 200]) {
      await db.query(INSERT, [organizationId, 0, staying, staying]);
      for (let round = 0; round < 5; round++) {
        await db.query(INSERT, [organizationId, 1, 300, 300]);
        await db.query('delete from leads where organization_id = $1 and created_at > $2', [
          organizationId,
          '2026-01-01T00:30:00Z',
        ]);
      }
      await checkList(organizationId);
      expect((await boundariesOf(organizationId)).length).toBeLessThanOrEqual(staying / 64 + 1);
    }
  });

  it('finds the rows of a block that come before its first boundary', async () => {
    const tenant = await lanyard.tenant();
    await db.query(INSERT, [tenant.organizationId, 0, 10_000, 20_000]);
    const removed = ['2026-01-01T00:35:13Z', '2026-01-01T00:36:16Z'];
    // The second block's first rows, with its first boundary; then one of them again.
    await db.query('delete from leads where organization_id = $1 and created_at between $2 and $3', [
      tenant.organizationId,
      ...removed,
    ]);
    await db.query(`insert into leads (id, organization_id, created_at) values (gen_random_uuid(), $1, $2)`, [
      tenant.organizationId,
      '2026-01-01T00:35:50Z',
    ]);
    await checkPages(tenant, 48);
    await checkPages(tenant, 50);
  });

  it('counts exactly while many write and delete at once, and in the order in which they become visible', async () => {
    const tenant = await lanyard.tenant();
    await db.query(INSERT, [tenant.organizationId, 0, 3000, 4000]);
    const create = async () => (await tenant.api.post('/leads', leadInput()).expect(200)).body.results.id as string;
    const written: string[] = [];
    let writing = true;
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; i < 25; i++) {
        const id = await create();
        if (writer % 2 === 0 && i % 3 === 0) await tenant.api.delete(`/leads/${id}`).expect(200);
        else written.push(id);
      }
    });
    const ended = Promise.all(writers).finally(() => (writing = false));
    // Within one answer the total and the page agree, so the last page's length says whether the total is exact.
    while (writing) {
      const { results } = (await tenant.api.get('/leads', { limit: 50, offset: 60 }).expect(200)).body;
      expect(results.leads).toHaveLength(Math.min(50, Math.max(0, results.total - 3000)));
    }
    await ended;
    await checkList(tenant.organizationId);
    const all = await tenant.api.all<{ id: string; createdAt: string }>('/leads', 'leads');
    expect(all).toHaveLength(3000 + written.length);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const inOrder = all.map(({ createdAt, id }) => `${createdAt} ${id}`);
    expect(inOrder).toEqual([...inOrder].sort());
  }, 60_000);

  it('shows a client that pages while others create no lead twice, and leaves none out', async () => {
    const tenant = await lanyard.tenant();
    let writing = true;
    const created: string[] = [];
    const writers = Array.from({ length: 8 }, async () => {
      for (let i = 0; i < 40; i++) {
        created.push((await tenant.api.post('/leads', leadInput()).expect(200)).body.results.id as string);
      }
    });
    const ended = Promise.all(writers).finally(() => (writing = false));
    const seen: string[] = [];
    for (let offset = 0; ;) {
      const wasWriting = writing;
      const { results } = (await tenant.api.get('/leads', { limit: 3, offset }).expect(200)).body;
      const page = results.leads.map(({ id }: { id: string }) => id) as string[];
      if (page.length === 3) {
        seen.push(...page);
        offset++;
      } else if (!wasWriting) {
        seen.push(...page);
        break;
      }
    }
    await ended;
    expect(seen.length).toBe(new Set(seen).size);
    expect([...seen].sort()).toEqual([...created].sort());
  }, 60_000);

  it('restricted to an event, a lead or a type, is exact too', async () => {
    const { organizationId, api } = await lanyard.tenant();
    const [{ id: event }] = await db.query<[{ id: number }]>(
      `insert into events (organization_id, name, type, registration_enabled) values ($1, 'n', 'EVENT', false) returning id`,
      [organizationId],
    );
    await db.query(INSERT, [organizationId, 0, 2600, 4000]);
    await db.query(
      `insert into event_leads (organization_id, event_id, lead_id, associated_at, registered, checked_in)
        select $1, $2, id, timestamptz '2026-02-01Z' + row_number() over (order by id desc) * interval '1 microsecond', true, false
        from leads where organization_id = $1`,
      [organizationId, event],
    );
    const [{ id: lead }] = await db.query<[{ id: string }]>('select id from leads where organization_id = $1 limit 1', [
      organizationId,
    ]);
    await db.query(
      `insert into lead_activity_events (id, organization_id, created_at, event_type, lead_id)
        select gen_random_uuid(), $1, timestamptz '2026-02-01Z' + g * interval '1 second',
          case when g % 4 = 0 then 'NOTE' else 'EMAIL' end, $2
        from generate_series(1, 3000) g`,
      [organizationId, lead],
    );
    await db.query('delete from lead_activity_events where organization_id = $1 and created_at < $2', [
      organizationId,
      '2026-02-01T00:01:40Z',
    ]);
    const totals = async (path: string, query: object) =>
      (await api.get(path, { limit: 50, offset: 40, ...query }).expect(200)).body.results;
    const lists = [
      [`/events/${event}/leads`, {}, 2600],
      ['/leadActivityEvents', {}, 2901],
      ['/leadActivityEvents', { leadId: lead }, 2901],
      ['/leadActivityEvents', { eventType: 'EMAIL' }, 2175],
      ['/leadActivityEvents', { eventType: 'EMAIL', leadId: lead }, 2175],
    ] as const;
    for (const [path, query, total] of lists) {
      const results = await totals(path, query);
      expect({ path, query, total: results.total }).toEqual({ path, query, total });
      const [items] = Object.values(results) as { createdAt?: string }[][];
      expect(items).toHaveLength(50);
    }
    const [first] = (await totals('/leadActivityEvents', { leadId: lead })).leadActivityEvents;
    // 99 of them are gone; the 2,001st that is left
    expect(first.createdAt).toBe(new Date(Date.UTC(2026, 1, 1) + (2000 + 100) * 1000).toISOString());
    expect((await api.get('/leadActivityEvents', { leadId: randomUUID() }).expect(200)).body.results.total).toBe(0);
  }, 60_000);
});

describe('one statement that does several things', () => {
  afterEach(removeAll);
  const wrongLists = async () => (await new CheckService(db).check(false)).lists;
  const NEW = `select gen_random_uuid(), $1, timestamptz '2026-01-02Z' + g * interval '1 second', 'n'
    from generate_series(1, 300) g`;
  const CONFERENCES = `insert into industry_events (id, created_at, name)`;

  it.each<[string, string[]]>([
    [
      'gives activity to a lead, and adds to it',
      [
        `insert into leads (id, organization_id) select gen_random_uuid(), $1 from generate_series(1, 2)`,
        `insert into lead_activity_events (id, organization_id, event_type, lead_id)
          select gen_random_uuid(), $1, 'NOTE', id from leads where organization_id = $1 order by id limit 1`,
        `insert into lead_activity_events (id, organization_id, event_type, lead_id)
          select unnest(array[(select id from lead_activity_events where organization_id = $1), gen_random_uuid()]),
            $1, 'EMAIL', id from leads where organization_id = $1 order by id offset 1
          on conflict (id) do update set lead_id = excluded.lead_id, event_type = excluded.event_type`,
      ],
    ],
    [
      'removes and adds',
      [
        INSERT.replace('$2', '0').replace('$3', '400').replace('$4', '401'),
        `with gone as (delete from leads where organization_id = $1 and created_at < timestamptz '2026-01-01 00:01:41Z')
          insert into leads (id, organization_id, created_at, first_name) ${NEW}`,
      ],
    ],
    [
      'removes many and adds many, in the middle',
      [
        INSERT.replace('$2', '0').replace('$3', '4000').replace('$4', '4001'),
        `with gone as (delete from leads where organization_id = $1 and extract(second from created_at) < 40)
          insert into leads (id, organization_id, created_at, first_name)
          select gen_random_uuid(), $1, timestamptz '2026-01-01 00:20Z', 'n' from generate_series(1, 3000)`,
      ],
    ],
    [
      'moves many between two boundaries that are nearly too far apart',
      [
        newGroups('$1', 1, 10000, `n * interval '1 second'`),
        newGroups('$1', 1, 1900, `interval '4000.25 seconds'`),
        `update tag_groups set created_at = timestamptz '2026-01-01Z' + interval '4000.25 seconds'
          where organization_id = $1 and name in (select n::text from generate_series(8000, 8100) n)`,
      ],
    ],
    [
      'moves one row to the end, and as many away from there as had come',
      [
        newGroups('$1', 1, 191, `n * interval '1 second'`),
        newGroups('$1', 192, 255, `n * interval '1 second'`),
        `update tag_groups
          set created_at = created_at + case name when '1' then interval '1 day' else interval '1 hour' end
          where organization_id = $1 and (name = '1' or name::integer > 150)`,
      ],
    ],
    [
      'moves one row within a block, and removes another from it',
      [
        newGroups('$1', 1, 10000, `n * interval '10 seconds'`),
        newGroups('$1', 1, 1900, `interval '50005 seconds'`),
        `update tag_groups set created_at = timestamptz '2026-01-01Z' + interval '50005 seconds'
          where organization_id = $1 and name in (select n::text from generate_series(9001, 9100) n)`,
        `with moved as (
            update tag_groups set created_at = timestamptz '2026-01-01Z' + interval '54321 seconds'
            where organization_id = $1 and name = '5001')
          delete from tag_groups where organization_id = $1 and name = '9050'`,
      ],
    ],
    [
      'gives leads to another organization',
      [
        `insert into leads (id, organization_id, created_at, first_name) ${NEW}`,
        `update leads set organization_id = (select max(id) from organizations where id <> $1)
          where organization_id = $1 and extract(second from created_at)::integer % 7 = 0`,
      ],
    ],
    [
      'renames conferences, and adds some before the last',
      [
        `${CONFERENCES} select gen_random_uuid(), timestamptz '2000-01-01Z' + g * interval '1 second', 'n' || g
          from generate_series(1, 600) g where $1 > 0`,
        `${CONFERENCES} select gen_random_uuid(), timestamptz '2000-01-01Z' + g * interval '1 second', 'n' || g
          from generate_series(600, 1500) g where $1 > 0
          union all select gen_random_uuid(), timestamptz '2000-01-01Z', 'old'`,
        `${CONFERENCES} select id, created_at, 'renamed' from industry_events where name = 'n1' and $1 > 0
          union all select gen_random_uuid(), timestamptz '2000-01-01 00:11:40Z', 'late ' || g from generate_series(1, 20) g
          on conflict (id) do update set name = excluded.name`,
        `delete from industry_events where created_at < timestamptz '2000-01-02Z' and $1 > 0`,
      ],
    ],
  ])('%s: its lists are right', async (_, statements) => {
    await lanyard.tenant();
    const { organizationId } = await lanyard.tenant();
    for (const sql of statements) {
      await db.query(sql.replaceAll('$1', '$1::integer'), [organizationId]);
      expect(await wrongLists()).toMatchObject({ wrong: 0 });
    }
  });
});

describe('the lock of a list', () => {
  it('does not lock an import out that settles while leads of its event are deleted', async () => {
    const { organizationId } = await lanyard.tenant();
    const [{ event }] = await db.query<[{ event: string }]>(
      `insert into events (organization_id, name, type, registration_enabled) values ($1, 'n', 'EVENT', false)
        returning id as event`,
      [organizationId],
    );
    const lead = async (runner: DataSource | QueryRunner): Promise<string> => {
      const id = randomUUID();
      await runner.query('insert into leads (id, organization_id, created_at) values ($1, $2, now())', [
        id,
        organizationId,
      ]);
      await runner.query('insert into event_leads values ($1, $2, $3, now(), true, true)', [organizationId, event, id]);
      return id;
    };
    const old = await lead(db);
    await bothEnd({
      held: 'event_leads',
      organizationId,
      imports: lead,
      deletes: ['delete from leads where id = $1', [old]],
    });
  });

  it('is not held by a delete of an event whose leads are being rendered', async () => {
    const { tenant, lead } = await withActivity();
    const [rendering, deleting] = await Promise.all([begun(), begun()]);
    await rendering.query('select from leads where id = $1 for update', [lead]);
    const deleted = deleting.query('delete from events where organization_id = $1', [tenant.organizationId]);
    await until(async () => (await waiting()) === 1);
    const { body } = await tenant.api.post('/events', eventInput()).expect(200);
    await rendering.commitTransaction();
    await deleted;
    await deleting.commitTransaction();
    for (const runner of [rendering, deleting]) await runner.release();
    const { results } = (await tenant.api.get('/events').expect(200)).body;
    expect(results).toMatchObject({ events: [{ id: body.results.id }], total: 1 });
    expect((await new CheckService(db).check(false)).lists.wrong).toBe(0);
  });

  it('does not lock an import out that settles while rows are deleted', async () => {
    const { tenant, note, other } = await withActivity();
    const add = `insert into lead_activity_events (id, organization_id, created_at, event_type, lead_id)
      select gen_random_uuid(), organization_id, created_at, event_type, $2 from lead_activity_events where id = $1`;
    await bothEnd({
      held: 'lead_activity_events',
      organizationId: tenant.organizationId,
      imports: (runner) => runner.query(add, [note, other]),
      deletes: ['delete from lead_activity_events where id = $1', [note]],
    });
  });

  /** An import settles, and then rows are deleted, while somebody holds a list that both need. */
  async function bothEnd(work: {
    held: string;
    organizationId: number;
    imports: (runner: QueryRunner) => Promise<unknown>;
    deletes: [sql: string, parameters: string[]];
  }): Promise<void> {
    const [gate, importing, deleting] = await Promise.all([begun(), begun(), begun()]);
    const held = [work.held, work.organizationId];
    await gate.query('select from lists where name = $1 and organization_id = $2 for update', held);
    await importing.query('select defer_lists()');
    await work.imports(importing);
    const settled = importing.query('select settle_lists()');
    await until(async () => (await waiting()) === 1);
    const deleted = deleting.query(...work.deletes);
    await until(async () => (await waiting()) === 2);
    await gate.commitTransaction();
    await settled;
    await importing.commitTransaction();
    await deleted;
    await deleting.commitTransaction();
    for (const runner of [gate, importing, deleting]) await runner.release();
    expect((await new CheckService(db).check(false)).lists.wrong).toBe(0);
  }

  const begun = async (): Promise<QueryRunner> => {
    const runner = db.createQueryRunner();
    await runner.startTransaction();
    return runner;
  };

  const waiting = (): Promise<number> => lockWaits(lanyard.config.databaseUrl as string);

  async function withActivity(): Promise<{ tenant: Tenant; note: string; lead: string; other: string }> {
    const tenant = await lanyard.tenant();
    const { users, tagGroup, event, activation, lead, activity } = exhibitor();
    const note = activity();
    const other = randomUUID();
    await tenant.import({
      ...{ users, tagGroups: [tagGroup], events: [event], activations: [activation] },
      ...{ leads: [lead, { ...lead, id: other }], leadActivityEvents: [note] },
    });
    return { tenant, note: note.id, lead: lead.id, other };
  }
});

describe('the check', () => {
  afterEach(removeAll);
  it('finds what triggers did not keep because they were off, and makes it right', async () => {
    const { organizationId, api } = await lanyard.tenant();
    await db.query(INSERT, [organizationId, 0, 3000, 4000]);
    const check = new CheckService(db);
    const wrong = async (repair = false) => {
      const { documents, lists } = await check.check(repair);
      return [documents.wrong, lists.wrong];
    };
    expect(await wrong()).toEqual([0, 0]);
    await db.query('alter table leads disable trigger user');
    await db.query(
      `delete from leads where id = (select id from leads where organization_id = $1 order by created_at limit 1)`,
      [organizationId],
    );
    await db.query(`update leads set last_name = 'Off' where organization_id = $1 and created_at = $2`, [
      organizationId,
      '2026-01-01T00:00:10Z',
    ]);
    await db.query('alter table leads enable trigger user');
    expect(await wrong(true)).toEqual([1, 1]);
    expect(await wrong()).toEqual([0, 0]);
    const { results } = (await api.get('/leads', { limit: 50, offset: 59 }).expect(200)).body;
    expect(results.total).toBe(2999);
    expect(results.leads).toHaveLength(49);
  });

  it.each([
    ['a total', 'update lists set total = total + 1'],
    ['rows behind the last boundary', 'update lists set tail = tail + 1'],
    ['the moment of the last boundary', `update lists set tail_from = tail_from + interval '1 second'`],
    ['a rank too many', 'update lists set ranks = ranks || 9000::bigint'],
    ['the order of blocks', 'update lists set blocks = array[blocks[2], blocks[1]], ranks = array[ranks[2], ranks[1]]'],
    ['a rank of a block', 'update list_blocks set ranks[2] = ranks[2] + 1'],
    ['a block without boundaries', `update list_blocks set ranks = '{}', moments = '{}', ids = '{}'`],
    [
      'the order of boundaries',
      `update list_blocks set ranks = array[ranks[2], ranks[1]] || ranks[3:],
        moments = array[moments[2], moments[1]] || moments[3:], ids = array[ids[2], ids[1]] || ids[3:]`,
    ],
    ['a block too few', 'delete from list_blocks'],
  ])('finds %s that is wrong, and makes it right', async (_, wrong) => {
    const { organizationId } = await lanyard.tenant();
    await db.query(INSERT, [organizationId, 0, 5000, 6000]);
    const condition = wrong.includes('list_blocks')
      ? `(list, block) = (select id, blocks[1] from lists where name = 'leads' and organization_id = $1)`
      : `name = 'leads' and organization_id = $1`;
    await db.query(`${wrong} where ${condition}`, [organizationId]);
    const check = new CheckService(db);
    expect((await check.check(true)).lists.wrong).toBe(1);
    expect((await check.check(false)).lists.wrong).toBe(0);
    await checkList(organizationId);
  });
});

describe('a list of many blocks', () => {
  const ROWS = 100_000;

  let tenant: Tenant;
  let names: string[];
  beforeAll(async () => {
    tenant = await lanyard.tenant();
    await db.query(newGroups(tenant.organizationId, 0, ROWS - 1, `n * interval '10 seconds'`));
    names = Array.from({ length: ROWS }, (_, n) => `${n}`);
  }, 60_000);

  /** Blocks that a statement writes. */
  const blocksWritten = (sql: string): Promise<number> =>
    db.transaction(async (manager) => {
      const written = async (): Promise<number> => {
        const [{ rows }] = await manager.query<[{ rows: number }]>(`select (pg_stat_get_xact_tuples_inserted(blocks)
          + pg_stat_get_xact_tuples_updated(blocks) + pg_stat_get_xact_tuples_deleted(blocks))::integer as rows
          from (select 'list_blocks'::regclass as blocks) b`);
        return rows;
      };
      const before = await written();
      await manager.query(sql);
      return (await written()) - before;
    });

  const expectPages = async (...offsets: number[]): Promise<void> => {
    for (const offset of offsets) {
      const { results } = (await tenant.api.get('/tagGroups', { limit: 50, offset }).expect(200)).body;
      expect(results.total).toBe(names.length);
      expect(results.tagGroups.map(({ name }: { name: string }) => name)).toEqual(
        names.slice(offset * 50, (offset + 1) * 50),
      );
    }
  };

  it('has a boundary at every 64th row, and 32 of them in a block', async () => {
    const drawn = await boundariesOf(tenant.organizationId, 'tag_groups');
    expect(drawn.map(({ place }) => place)).toEqual(Array.from({ length: 1562 }, (_, n) => (n + 1) * 64));
    expect(new Set(drawn.map(({ block }) => block)).size).toBe(49);
    await expectPages(0, 1, 41, 1000, 1999, 2000);
  });

  it('is changed in its middle in one block', async () => {
    const { organizationId } = tenant;
    const remove = `delete from tag_groups where organization_id = ${organizationId} and name = '50000'`;
    expect(await blocksWritten(remove)).toBe(1);
    names.splice(50_000, 1);
    await expectPages(999, 1000, 1998);
  });

  it('has one block drawn anew when many rows come between two boundaries of it', async () => {
    const { organizationId } = tenant;
    const late = (from: number, to: number): string =>
      newGroups(organizationId, from, to, `interval '699991 seconds' + (n - 200000) * interval '1 millisecond'`);
    // As many as are left between two boundaries; then one more, which makes two blocks of one.
    expect(await blocksWritten(late(200_000, 201_935))).toBe(1);
    expect(await blocksWritten(late(201_936, 201_936))).toBe(1 + 2);
    names.splice(69_999, 0, ...Array.from({ length: 1937 }, (_, n) => `${200_000 + n}`));
    await expectPages(1399, 1400, 1420, 1440, 2038);
    const places = (await boundariesOf(organizationId, 'tag_groups')).map(({ place }) => place);
    expect(Math.max(...places.map((place, n) => place - (places[n - 1] ?? 0)))).toBeLessThanOrEqual(128);
  });
});
