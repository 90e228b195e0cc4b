import { leadInput } from './support/builders';
import { query } from './support/embedded-fixtures';
import { install, Installation, remove } from './support/operator';

describe('operator check', () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await install();
    const { api } = await installation.server.tenant();
    await api.post('/leads', leadInput()).expect(200);
    await api.post('/leads', leadInput()).expect(200);
  });
  afterAll(() => remove(installation));

  const sql = (text: string) => query(installation.database.url, text);
  const check = async (...options: string[]) => {
    const { status, stdout, stderr } = await installation.operator.run(['check', '--json', ...options]);
    return { status, stderr, found: JSON.parse(stdout) as { documents: object; lists: object } };
  };
  const found = (wrong: number) => ({
    documents: { checked: 2, wrong },
    lists: expect.objectContaining({ wrong }) as object,
  });

  it('finds nothing where nobody switched triggers off', async () => {
    expect(await check()).toEqual({ status: 0, stderr: '', found: found(0) });
    const { stdout } = await installation.operator.run(['check']);
    expect(stdout).toMatch(/documents of leads\W+2\W+0/);
  });

  it('says what is wrong, and makes it right when it is told to', async () => {
    await sql(`begin; alter table leads disable trigger user; update leads set last_name = 'Off' where ctid = '(0,1)';
      alter table leads enable trigger user; update lists set total = 9 where name = 'leads'; commit`);
    const refused = { status: 1, stderr: expect.stringContaining('check --repair makes it right') as string };
    expect(await check()).toEqual({ ...refused, found: found(1) });
    expect(await check('--repair')).toEqual({ status: 0, stderr: '', found: found(1) });
    expect(await check()).toEqual({ status: 0, stderr: '', found: found(0) });
  });
});
