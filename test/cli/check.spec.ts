import { query } from '../../src/testing/test-database';
import { leadInput } from '../support/builders';
import { install, Installation } from '../support/operator';

describe('operator check', () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await install();
    const { api } = await installation.server.tenant();
    await api.post('/leads', leadInput()).expect(200);
    await api.post('/leads', leadInput()).expect(200);
    for (const name of ['Solar fair', 'Wind fair']) await api.post('/industryEvents', { name }).expect(200);
  });

  const sql = (text: string) => query(installation.database.url, text);
  const check = async (...options: string[]) => {
    const { status, stdout, stderr } = await installation.operator.run(['check', '--json', ...options]);
    return { status, stderr, found: JSON.parse(stdout) as object };
  };
  const found = (wrong: number) => ({
    documents: { checked: 2, wrong },
    functions: { checked: expect.any(Number) as number, wrong: 0, missing: [] },
    leadWords: { checked: 2, wrong },
    lists: expect.objectContaining({ wrong }) as object,
    triggers: { checked: expect.any(Number) as number, wrong: 0, disabled: [], missing: [] },
    words: { checked: 2, wrong },
  });

  const all = (count: number) => ({ checked: count, wrong: count });

  it('finds no errors in a consistent database', async () => {
    expect(await check()).toEqual({ status: 0, stderr: '', found: found(0) });
    const { stdout } = await installation.operator.run(['check']);
    expect(stdout).toMatch(/^documents +checked 2, wrong 0$/m);
    expect(stdout).toMatch(/^words +checked 2, wrong 0$/m);
  });

  it('reports what is wrong, and repairs it with --repair', async () => {
    await sql(`begin; alter table leads disable trigger user; update leads set last_name = 'Off' where ctid = '(0,1)';
      alter table leads enable trigger user; update list_counts set rows = 9 where list = 'leads' and shift = 40;
      alter table industry_events disable trigger user; update industry_events set search = 'moon' where search @@ 'solar';
      alter table industry_events enable trigger user; commit`);
    const refused = { status: 1, stderr: expect.stringContaining('Run "check --repair".') as string };
    expect(await check()).toEqual({ ...refused, found: found(1) });
    expect(await check('--repair')).toEqual({ status: 0, stderr: '', found: found(1) });
    expect(await check()).toEqual({ status: 0, stderr: '', found: found(0) });
    expect(await sql(`select name from industry_events where search @@ 'solar'`)).toEqual([{ name: 'Solar fair' }]);
  });

  it('finds words without their lead, and leads without their words', async () => {
    await sql('update lead_words set position = position + 1000 where ctid = (select min(ctid) from lead_words)');
    const both = { checked: 3, wrong: 2 };
    expect(await check()).toMatchObject({ status: 1, found: { leadWords: both } });
    expect(await check('--repair')).toMatchObject({ status: 0, found: { leadWords: both } });
    expect(await check()).toEqual({ status: 0, stderr: '', found: found(0) });
  });

  it('reports what is still wrong after a repair', async () => {
    await sql(`create function keep() returns trigger language plpgsql as
        $$ begin new.search := coalesce(old.search, 'stale'); return new; end $$;
      alter table industry_events disable trigger user; update industry_events set search = 'stale';
      create trigger zz_keep before update on industry_events for each row execute function keep()`);
    const stderr = 'Still wrong after the repair: words. Are triggers of these tables disabled?\n';
    const off = (await sql(`select 'industry_events.' || tgname as name from pg_trigger
      where tgrelid = 'industry_events'::regclass and tgenabled = 'D' and not tgisinternal`)) as { name: string }[];
    const names = expect.arrayContaining(off.map(({ name }) => name)) as string[];
    const triggers = { checked: expect.any(Number) as number, wrong: off.length, disabled: names, missing: [] };
    expect(await check('--repair')).toEqual({ status: 1, stderr, found: { ...found(0), triggers, words: all(2) } });
    await sql('drop function keep cascade');
    const repaired = { status: 0, stderr: '' };
    expect(await check('--repair')).toEqual({ ...repaired, found: { ...found(0), words: all(2) } });
    expect(await check()).toEqual({ status: 0, stderr: '', found: found(0) });
  });

  it('finds disabled triggers, and makes clients of the change feed start again after a repair', async () => {
    const { api } = await installation.server.tenant();
    const { cursor } = (await api.get('/changes', { since: 'now' }).expect(200)).body.results as { cursor: string };
    await sql('alter table leads disable trigger t60_change_inserted');
    await api.post('/leads', leadInput()).expect(200);
    const off = ['leads.t60_change_inserted'];
    const triggers = { checked: expect.any(Number) as number, wrong: 1, disabled: off, missing: [] };
    const leads = { documents: { checked: 3, wrong: 0 }, leadWords: { checked: 3, wrong: 0 } };
    const stderr = 'Inconsistent: triggers. Run "check --repair".\n';
    const refused = { status: 1, stderr };
    expect(await check()).toEqual({ ...refused, found: { ...found(0), ...leads, triggers } });
    const repaired = await check('--repair');
    expect(repaired).toMatchObject({ status: 0, stderr: '', found: { triggers } });
    expect(await check()).toEqual({ status: 0, stderr: '', found: { ...found(0), ...leads } });
    await api.get('/changes', { cursor }).expect(410, { status: 410, error: 'Gone' });
  });

  it('reports dropped functions and triggers, and recreates them with --repair', async () => {
    const { api } = await installation.server.tenant();
    const { cursor } = (await api.get('/changes', { since: 'now' }).expect(200)).body.results as { cursor: string };
    const triggers = () =>
      sql(`select tgrelid::regclass::text as table, tgname, pg_get_triggerdef(oid) from pg_trigger
        where not tgisinternal order by 1, 2`);
    const before = await triggers();
    await sql(`drop trigger t80_count_inserted on leads; drop function list_seek;
      drop trigger t60_change_inserted on leads`);
    await api.post('/leads', leadInput()).expect(200);

    const { status, stderr, found: wrong } = await check();
    expect(status).toBe(1);
    expect(stderr).toBe('Inconsistent: functions, lists, triggers. Run "check --repair".\n');
    expect(wrong).toMatchObject({
      functions: { wrong: 1, missing: ['list_seek'] },
      triggers: { wrong: 2, disabled: [], missing: ['leads.t60_change_inserted', 'leads.t80_count_inserted'] },
    });
    const repaired = await check('--repair');
    expect(repaired).toMatchObject({ status: 0, stderr: '', found: wrong });
    expect(await check()).toMatchObject({ status: 0, stderr: '' });
    expect(await triggers()).toEqual(before);
    await api.get('/changes', { cursor }).expect(410, { status: 410, error: 'Gone' });
  });
});
