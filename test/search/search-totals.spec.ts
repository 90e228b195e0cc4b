import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { operatorDataSourceOptions } from '../../src/database/data-source';
import { CheckService } from '../../src/cli/check/check.service';
import { industryEventInput } from '../support/builders';
import { testDatabase } from '../support/database';
import { query } from '../support/embedded-fixtures';
import { install, Installation, remove } from '../support/operator';
import type { Tenant } from '../support/lanyard';

/** More matches than are looked at one by one: their number is counted once and remembered. */
const MANY = 2500;

describe('a search that was made before', () => {
  let installation: Installation;
  let tenant: Tenant;
  let sql: (text: string) => Promise<Record<string, unknown>[]>;

  beforeAll(async () => {
    installation = await install();
    tenant = await installation.server.tenant();
    sql = (text) => query(installation.database.url, text);
    await sql(`insert into industry_events (id, name, description)
      select gen_random_uuid(), 'Fair ' || n, 'All about lanyardry.' from generate_series(1, ${MANY}) n`);
  });
  afterAll(() => remove(installation));

  const total = async (q = 'lanyardry'): Promise<number> =>
    (await tenant.api.get('/industryEvents', { q, limit: 1 }).expect(200)).body.results.total as number;
  /** Pages in the beginning, in the middle and at the end, each by a spelling of its own: of each the page is remembered. */
  const PAGES = { lanyardry: 0, Lanyardry: 1, LANYARDRY: 400, LanyardrY: 900 };
  const remembered = () =>
    Promise.all(
      Object.entries(PAGES).map(async ([q, offset]) => {
        const { body } = await tenant.api.get('/industryEvents', { q, limit: 3, offset }).expect(200);
        return (body.results.industryEvents as { id: string }[]).map(({ id }) => id);
      }),
    );
  const searchedAnew = async () => {
    const pages = Object.entries(PAGES).map(([q, page]) => `search_industry_events('${q}', 3, ${page})`);
    const rows = await sql(pages.map((page) => `select ids::text[] from ${page}`).join(' union all '));
    return rows.map(({ ids }) => ids);
  };
  /** Words of which it is not kept how many records have them. */
  const miscounted = () => sql('select * from check_industry_event_words()');
  const imported = async (record: object): Promise<void> => {
    const line = JSON.stringify({ section: 'industryEvents', record });
    const args = ['import', '-', '--organization', String(tenant.organizationId), '--json'];
    expect(await installation.operator.run(args, `${line}\n`)).toMatchObject({ status: 0 });
  };

  it('is exact after every kind of change', async () => {
    const id = randomUUID();
    let created = '';
    const input = industryEventInput({ description: 'Lanyardry!' });
    const put = (over: object) => tenant.api.put(`/industryEvents/${created}`, { ...input, ...over }).expect(200);
    const changes: [string, number, () => PromiseLike<unknown>][] = [
      ['nothing', 0, () => Promise.resolve()],
      [
        'POST',
        +1,
        async () => {
          const { body } = await tenant.api.post('/industryEvents', input).expect(200);
          created = body.results.industryEvent.id as string;
        },
      ],
      ['PUT', -1, () => put({ description: 'No more.' })],
      ['PUT again', +1, () => put({})],
      ['an imported record', +1, () => imported({ id, name: 'Lanyardry' })],
      ['an imported change', -1, () => imported({ id, name: 'Another' })],
      ['SQL that deletes', -100, () => sql(`delete from industry_events where name like 'Fair 1__'`)],
      ['SQL that updates', -1, () => sql(`update industry_events set description = '' where name = 'Fair 9'`)],
      [
        'SQL that puts a record before all others',
        0,
        () => sql(`update industry_events set created_at = '2001-01-01' where name = 'Fair 2000'`),
      ],
      [
        'SQL that puts the word into a name',
        0,
        () => sql(`update industry_events set name = 'Lanyardry', description = null where name = 'Fair 2400'`),
      ],
      [
        'SQL that replaces a record',
        -1,
        () =>
          sql(`with gone as (delete from industry_events where name = 'Fair 8' returning *)
            insert into industry_events (id, created_at, name) select id, created_at, name from gone`),
      ],
      [
        'SQL that gives the place of a record to another one',
        0,
        () =>
          sql(`with moved as (
              update industry_events set id = gen_random_uuid(), description = '' where name = 'Fair 7' returning created_at
            ), old as (select id from industry_events where name = 'Fair 7')
            insert into industry_events (id, created_at, name, description)
              select id, created_at, 'Seven', 'Lanyardry' from old, moved`),
      ],
    ];
    let expected = MANY;
    for (const [change, difference, make] of changes) {
      await make();
      expected += difference;
      expect({ change, total: await total() }).toEqual({ change, total: expected });
      expect({ change, again: await total() }).toEqual({ change, again: expected });
      expect({ change, pages: await remembered() }).toEqual({ change, pages: await searchedAnew() });
      expect({ change, miscounted: await miscounted() }).toEqual({ change, miscounted: [] });
    }
  });

  it('is exact after changes of one word by many at once, an import among them', async () => {
    const before = await total();
    const posted = Array.from({ length: 12 }, (_, n) =>
      tenant.api.post('/industryEvents', industryEventInput({ name: `Rival ${n}`, description: 'Lanyardry!' })),
    );
    const ids = (await Promise.all(posted)).map(({ body }) => body.results.industryEvent.id as string);
    const put = (id: string, n: number) =>
      tenant.api.put(`/industryEvents/${id}`, { name: `Rival ${n}`, description: n % 3 ? 'Lanyardry?' : 'No more.' });
    const line = (n: number) =>
      JSON.stringify({ section: 'industryEvents', record: { name: `Imported ${n}`, description: 'Lanyardry' } });
    const [{ status }, ...answers] = await Promise.all([
      installation.operator.run(
        ['import', '-', '--organization', String(tenant.organizationId)],
        [1, 2, 3].map((n) => `${line(n)}\n`).join(''),
      ),
      ...ids.map(put),
      ...ids.map(put),
      ...[4, 5, 6].map((n) => tenant.api.post('/industryEvents', { name: `More ${n}`, description: 'Lanyardry' })),
    ]);
    expect([status, ...new Set(answers.map((answer) => answer.status))]).toEqual([0, 200]);
    expect(await total()).toBe(before + 8 + 3 + 3);
    expect(await miscounted()).toEqual([]);
  });

  it('is of another version once in a transaction, however many records that changes', async () => {
    const db = new Client(installation.database.url);
    await db.connect();
    const one = async (text: string): Promise<unknown> =>
      Object.values((await db.query<object>(text)).rows[0] ?? {})[0];
    const version = () => one(`select known from search_industry_events('lanyardry', 1, 0)`);
    const change = (records: string) =>
      db.query(`update industry_events set description = description || ' Visitors.' where name ${records}`);
    const before = await version();
    await db.query('begin');
    await change("< 'Fair 2'");
    const changed = await version();
    await db.query('savepoint undone');
    await change("> 'Fair 8'");
    await db.query('rollback to undone');
    await change("> 'Fair 8'");
    const times = await one(`select n_tup_upd::int from pg_stat_xact_user_tables where relname = 'lists'`);
    await db.query('commit');
    expect({ times, after: await version() }).toEqual({ times: 1, after: changed });
    expect(changed).not.toBe(before);
    await db.query('begin');
    await db.query('savepoint undone');
    await change("< 'Fair 2'");
    await db.query('rollback to undone');
    await change("> 'Fair 8'");
    await db.query('commit');
    expect(await version()).not.toBe(changed);
    await db.end();
  });

  it('costs as much for each record of a statement, however few there were in the ones before', async () => {
    const fresh = await testDatabase();
    const db = new Client(fresh.url);
    await db.connect();
    const looked = async (): Promise<number> => {
      const { rows } = await db.query<{ rows: number }>(`select (seq_tup_read + idx_tup_fetch)::integer as rows
        from pg_stat_xact_user_tables where relname = 'industry_event_words'`);
      return rows[0]?.rows ?? NaN;
    };
    const insert = (count: number) =>
      db.query(`insert into industry_events (id, name) select gen_random_uuid(), 'Fair ' || n
        from generate_series(1, ${count}) n`);
    const RECORDS = 1000;
    // Plans are made for one record each.
    await insert(1);
    await db.query(`update industry_events set name = 'One'; update industry_events set created_at = 'yesterday'`);
    await db.query('delete from industry_events');
    const costs: Record<string, number> = {};
    for (const [name, change] of [
      ['insert', () => insert(RECORDS)],
      ['update', () => db.query(`update industry_events set name = name || ' again'`)],
      ['move', () => db.query(`update industry_events set created_at = created_at - interval '1 day'`)],
      ['delete', () => db.query('delete from industry_events')],
    ] as const) {
      await db.query('begin');
      await change();
      costs[name] = (await looked()) / RECORDS;
      await db.query('commit');
    }
    expect(Math.max(...Object.values(costs))).toBeLessThan(10);
    await db.end();
    await fresh.drop();
  });

  it('is remembered with a version that no other history of the database has', async () => {
    const version = async () => (await sql(`select known from search_industry_events('lanyardry', 1, 0)`))[0]?.known;
    const before = await version();
    await sql('begin; delete from industry_events; rollback');
    expect(await version()).toBe(before);
    // Another primary gives the next transaction the same number, and its row the same place.
    const seen = new Set([before]);
    for (let n = 0; n < 3; n++) {
      await sql(`update industry_events set description = 'Lanyardry ${n}.' where name = 'Fair 2000'`);
      seen.add(await version());
    }
    expect(seen.size).toBe(4);
    // It has no words, and so does not have any that must not occur.
    await sql(`insert into industry_event_words (created_at, id, words) values (now(), '${randomUUID()}', '')`);
    seen.add(await version());
    await sql(`delete from industry_event_words where words = ''`);
    seen.add(await version());
    expect(seen.size).toBe(6);
    for (const known of seen) expect(known).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/);
  });

  it('is of the words that were searched for, and of no others', async () => {
    await sql(`update industry_events set name = 'Expo' where name like 'Fair 20__'`);
    const [row] = await sql(`select count(*)::int as fairs from industry_events where name like 'Fair %'`);
    expect(await total()).not.toBe(row?.fairs);
    expect(await total('fair')).toBe(row?.fairs);
  });

  it('is not made again; of other pages, the total of a word is kept, and of several not counted again', async () => {
    const db = new Client(installation.database.url);
    await db.connect();
    const first = async <T>(text: string): Promise<T> =>
      Object.values((await db.query<object>(text)).rows[0] ?? {})[0] as T;
    const blocks = async (q: string, known: string, page = 1): Promise<number> => {
      const search = `select * from search_industry_events('${q}', 20, ${page}, ${known})`;
      await db.query(search); // plans are made
      const [{ Plan: plan }] = await first<[{ Plan: Record<string, number> }]>(
        `explain (analyze, buffers, format json) ${search}`,
      );
      return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
    };
    await sql('vacuum analyze industry_event_words'); // or a plan, or the index's pending entries, change meanwhile
    const knownOf = async (q: string) =>
      `'${await first<string>(`select known from search_industry_events('${q}', 20, 0)`)}'`;
    const known = { one: await knownOf('lanyardry'), two: await knownOf('fair lanyardry') };
    expect(await blocks('lanyardry', known.one, 0)).toBeLessThan(10);
    expect(await blocks('fair lanyardry', known.two, 0)).toBeLessThan(10);
    // A count visits every match, on 30 pages and more.
    expect(await blocks('lanyardry', 'null')).toBeLessThan((await blocks('lanyardry', known.one)) + 10);
    for (const version of ['null', `'another 1 0:0 {}'`]) {
      expect(await blocks('fair lanyardry', version)).toBeGreaterThan((await blocks('fair lanyardry', known.two)) + 30);
    }
    await db.end();
  });
});

/** What SQL does to the catalogue: to the n-th record, those behind it, and with a name. */
const CHANGES = {
  insert: (n: number, name: string) => `insert into industry_events (id, created_at, name)
    values (${idOf(n)}, ${momentOf(n)}, '${name}') on conflict do nothing`,
  insertMany: (n: number, name: string) => `insert into industry_events (id, created_at, name, description)
    select gen_random_uuid(), ${momentOf(n)} + k % 3 * interval '1 s', '${name} ' || k % 4, null from generate_series(1, 40) k`,
  rename: (n: number, name: string) => `update industry_events set name = '${name}' where created_at >= ${momentOf(n)}`,
  describe: (n: number, name: string) => `update industry_events set description = '${name}' where id = ${idOf(n)}`,
  upsert: (n: number, name: string) => `insert into industry_events (id, created_at, name)
    values (${idOf(n)}, ${momentOf(n)}, '${name}') on conflict (id) do update set name = excluded.name || ' again'`,
  move: (n: number) =>
    `update industry_events set created_at = created_at - interval '3 s' where created_at > ${momentOf(n)}`,
  renumber: (n: number) => `update industry_events set id = gen_random_uuid() where id = ${idOf(n)}`,
  replace: (n: number, name: string) => `with gone as (delete from industry_events where id = ${idOf(n)} returning *)
    insert into industry_events (id, created_at, name) select id, created_at, '${name}' from gone`,
  remove: (n: number) => `delete from industry_events where created_at < ${momentOf(n)}`,
};
const idOf = (n: number): string => `'00000000-0000-4000-8000-${String(n).padStart(12, '0')}'`;
const momentOf = (n: number): string => `timestamptz '2026-01-01Z' + ${n} * interval '1 s'`;

const change = fc.record({
  of: fc.constantFrom(...(Object.keys(CHANGES) as (keyof typeof CHANGES)[])),
  n: fc.integer({ min: 0, max: 12 }),
  name: fc.constantFrom('Fair', 'fair, fair', 'The', '', 'Wind-fair 4.0', 'AT&T', `O''Brien''s \\ fair`, 'Łódź 🎪'),
  isUndone: fc.boolean(),
});

describe('how many industry events have a word', () => {
  it('is what a recount says, after any transactions', async () => {
    const database = await testDatabase();
    const dataSource = await new DataSource(operatorDataSourceOptions(database.url)).initialize();
    const check = new CheckService(dataSource);
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), fc.boolean(), async (changes, isDeferred) => {
        await dataSource.transaction(async (manager) => {
          if (isDeferred) await manager.query('select defer_lists()');
          for (const { of, n, name, isUndone } of changes) {
            await manager.query('savepoint before');
            await manager.query(CHANGES[of](n, name));
            if (isUndone) await manager.query('rollback to before');
          }
          if (isDeferred) await manager.query('select settle_lists()');
        });
        const right = { lists: { wrong: 0 }, words: { wrong: 0 }, wordCounts: { wrong: 0 } };
        expect(await check.check(false)).toMatchObject(right);
      }),
      { seed: 1, numRuns: 100 },
    );
    await dataSource.destroy();
    await database.drop();
  });
});
