import { Readable } from 'node:stream';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { ImportService, type UncheckedRecord } from '../../src/cli/import/import.service';
import { operatorDataSourceOptions } from '../../src/database/data-source';
import { leadInput } from '../support/builders';
import { lockWaits, query, until } from '../support/embedded-fixtures';
import { install, Installation, remove } from '../support/operator';

const SPOIL_WORDS = `alter table industry_events disable trigger user; update industry_events set search = 'stale';
  alter table industry_events enable trigger user`;

describe('operator check', () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await install();
    const { api } = await installation.server.tenant();
    await api.post('/leads', leadInput()).expect(200);
    await api.post('/leads', leadInput()).expect(200);
    for (const name of ['Solar fair', 'Wind fair']) await api.post('/industryEvents', { name }).expect(200);
  });
  afterAll(() => remove(installation));

  const sql = (text: string) => query(installation.database.url, text);
  const check = async (...options: string[]) => {
    const { status, stdout, stderr } = await installation.operator.run(['check', '--json', ...options]);
    return { status, stderr, found: JSON.parse(stdout) as object };
  };
  const found = (wrong: number) => ({
    documents: { checked: 2, wrong },
    lists: expect.objectContaining({ wrong }) as object,
    words: { checked: 2, wrong },
  });

  const all = (count: number) => ({ checked: count, wrong: count });

  it('finds nothing in a sound database', async () => {
    expect(await check()).toEqual({ status: 0, stderr: '', found: found(0) });
    const { stdout } = await installation.operator.run(['check']);
    expect(stdout).toMatch(/documents of leads\W+2\W+0/);
    expect(stdout).toMatch(/words of industry events\W+2\W+0/);
  });

  it('reports what is wrong, and repairs it with --repair', async () => {
    await sql(`begin; alter table leads disable trigger user; update leads set last_name = 'Off' where ctid = '(0,1)';
      alter table leads enable trigger user; update list_counts set rows = 9 where list = 'leads' and shift = 40;
      alter table industry_events disable trigger user; update industry_events set search = 'moon' where search @@ 'solar';
      alter table industry_events enable trigger user; commit`);
    const refused = { status: 1, stderr: expect.stringContaining('run check --repair') as string };
    expect(await check()).toEqual({ ...refused, found: found(1) });
    expect(await check('--repair')).toEqual({ status: 0, stderr: '', found: found(1) });
    expect(await check()).toEqual({ status: 0, stderr: '', found: found(0) });
    expect(await sql(`select name from industry_events where search @@ 'solar'`)).toEqual([{ name: 'Solar fair' }]);
  });

  it('counts lists that are missing among those it has compared', async () => {
    const { found: before } = await check();
    const { checked } = (before as { lists: { checked: number } }).lists;
    await sql('delete from list_counts');
    expect(await check('--repair')).toMatchObject({ status: 0, found: { lists: all(checked) } });
    expect(await check()).toMatchObject({ status: 0, found: { lists: { checked, wrong: 0 } } });
  });

  it('repairs leads whose triggers are disabled', async () => {
    await sql(`alter table leads disable trigger user; update leads set document = 'x'`);
    expect(await check('--repair')).toEqual({ status: 0, stderr: '', found: { ...found(0), documents: all(2) } });
    expect(await check()).toEqual({ status: 0, stderr: '', found: found(0) });
    await sql('alter table leads enable trigger user');
  });

  it('reports what is still wrong after the repair', async () => {
    await sql(`create function keep() returns trigger language plpgsql as
        $$ begin new.search := coalesce(old.search, 'stale'); return new; end $$;
      alter table industry_events disable trigger user; update industry_events set search = 'stale';
      create trigger t99_keep before update on industry_events for each row execute function keep()`);
    const stderr = 'still wrong after the repair: 2 words of industry events; are triggers of these tables disabled?\n';
    expect(await check('--repair')).toEqual({ status: 1, stderr, found: { ...found(0), words: all(2) } });
    await sql('drop function keep cascade; alter table industry_events enable trigger user');
    expect(await check('--repair')).toEqual({ status: 0, stderr: '', found: { ...found(0), words: all(2) } });
    expect(await check()).toEqual({ status: 0, stderr: '', found: found(0) });
  });

  it.each([
    ['changes', `update industry_events set name = 'Lunar fair' where name = 'Solar fair'`],
    ['goes', `delete from industry_events where name = 'Wind fair'`],
  ])('keeps the words of what a record says by then, when it %s meanwhile', async (_, change) => {
    await sql(SPOIL_WORDS);
    const other = new Client(installation.database.url);
    await other.connect();
    await other.query(`begin; ${change}`);
    const repaired = check('--repair');
    await until(async () => (await lockWaits(installation.database.url)) === 1);
    await other.query('commit');
    await other.end();
    expect(await repaired).toMatchObject({ status: 0, stderr: '' });
    expect(await check()).toMatchObject({ status: 0, found: { words: { wrong: 0 } } });
  });

  describe('beside an import that changes the same records', () => {
    const [leads, events] = [1, 2].map((kind) =>
      [1, 2].map((n) => ({ id: `00000000-0000-4000-8000-00000000000${kind}`.replace(/^../, `0${n}`) })),
    ) as [{ id: string }[], { id: string }[]];
    const from = (records: UncheckedRecord[]) => Readable.from(records);
    let organizationId: number;

    beforeAll(async () => {
      const tenant = await installation.server.tenant();
      ({ organizationId } = tenant);
      await tenant.import({ leads, industryEvents: events.map(({ id }, n) => ({ id, name: `Fair ${n}` })) });
    });

    it.each<[string, (n: number) => UncheckedRecord, string]>([
      [
        'makes stored leads right',
        (n) => ({ section: 'leads', record: { ...leads[n], firstName: 'Changed' } }),
        `alter table leads disable trigger user; update leads set document = '{}'; alter table leads enable trigger user`,
      ],
      [
        'makes the words of a search right',
        (n) => ({ section: 'industryEvents', record: { ...events[n], name: `Changed ${n}` } }),
        SPOIL_WORDS,
      ],
    ])('%s when that is done', async (_, change, spoil) => {
      await sql(spoil);
      const operator = await new DataSource(operatorDataSourceOptions(installation.database.url)).initialize();
      const waits = (count: number) => until(async () => (await lockWaits(installation.database.url)) === count);
      const held = operator.createQueryRunner();
      await held.startTransaction();
      await held.query(`select from lists where organization_id = 0 for update`); // written to last
      const changes = [1, 0].map(change);
      const added: UncheckedRecord = { section: 'industryEvents', record: { name: `Added by ${spoil}`.slice(0, 200) } };
      const imported = new ImportService(operator.manager).importRecords(organizationId, from([...changes, added]));
      await waits(1);
      const repaired = check('--repair');
      await waits(2);
      await held.commitTransaction();
      await held.release();
      await imported;
      await operator.destroy();
      expect(await repaired).toMatchObject({ status: 0, stderr: '' });
      const right = { documents: { wrong: 0 }, lists: { wrong: 0 }, words: { wrong: 0 } };
      expect(await check()).toMatchObject({ status: 0, found: right });
    });
  });
});
