import { RowNotFound } from '../../src/database/errors';
import type { List } from '../../src/database/paginate';
import { type Statement, Statements } from '../../src/database/statements';
import { InProcess, startInProcess } from '../support/lanyard';

describe('a statement', () => {
  let lanyard: InProcess;
  let statements: Statements;
  beforeAll(async () => {
    lanyard = await startInProcess();
    statements = lanyard.app.get(Statements);
  });
  afterAll(() => lanyard.stop());

  const owner = { organizationId: 7 };

  it('has the organization as its first parameter, and the values after it', async () => {
    const statement = { name: 'test.first', text: `select $1::text || ' ' || $2::text` };
    expect(await statements.one(owner, statement, ['a'])).toBe('7 a');
    const shared = { name: 'test.shared', text: 'select $1::text', shared: true } as const;
    expect(await statements.one(owner, shared, ['a'])).toBe('a');
  });

  it('is refused when it does not use the organization', async () => {
    const forgetful = { name: 'test.forgetful', text: `select 'everything'` };
    await expect(statements.all(owner, forgetful, [])).rejects.toThrow('requires 0');
  });

  it('that has no row is RowNotFound, where one is needed', async () => {
    const none = { name: 'test.none', text: `select 'x' where $1::integer = 0` };
    expect(await statements.all(owner, none, [])).toEqual([]);
    await expect(statements.one(owner, none, [])).rejects.toBeInstanceOf(RowNotFound);
  });

  it('is refused when another has its name', async () => {
    const mine = (value: string): Statement => ({
      name: 'test.mine',
      text: `select '${value}'::text where $1::integer > 0`,
    });
    expect(await statements.one(owner, mine('a'), [])).toBe('a');
    await expect(statements.one(owner, mine('b'), [])).rejects.toThrow("Two statements are called 'test.mine'");
    expect(await statements.one(owner, mine('a'), [])).toBe('a');
  });

  describe('of a list', () => {
    const list = (name: string, item: string): List => ({
      name,
      page: () => `select ${item}, 1 where $1::integer = 7`,
    });
    const page = (of: List) => statements.paginate(owner, of, [], { limit: 2, offset: 0 });

    it('is refused when another has its name', async () => {
      const [one, other] = [list('test.list', "'a'"), list('test.list', "'b'")];
      expect(await page(one)).toEqual({ limit: 2, offset: 0, items: 'a', total: 1 });
      await expect(page(other)).rejects.toThrow("Two statements are called 'test.list:2:0'");
      expect((await page(one)).items).toEqual('a');
    });

    it('that has no row is RowNotFound: what the list belongs to does not exist', async () => {
      const nowhere: List = { name: 'test.nowhere', page: () => `select '', 1 where $1::integer = 0` };
      await expect(page(nowhere)).rejects.toBeInstanceOf(RowNotFound);
    });
  });

  describe('that fails', () => {
    /** The connection that comes next out of the pool, which is the one that was released last. */
    const connection = () =>
      statements.one(owner, { name: 'test.pid', text: 'select pg_backend_pid()::text where $1::integer > 0' }, []);

    it('leaves its connection in the pool after an error that PostgreSQL answered', async () => {
      const before = await connection();
      const statement = { name: 'test.error', text: 'select (1 / ($1::integer - 7))::text' };
      await expect(statements.all(owner, statement, [])).rejects.toMatchObject({ code: '22012' });
      expect(await connection()).toBe(before);
    });

    it.each<[string, object, string, number | undefined]>([
      ['that is not answered', { message: 'Query read timeout' }, 'pg_sleep(60)', 50],
      ['that was lost', { code: '57P01' }, 'pg_terminate_backend(pg_backend_pid())', undefined],
      ['to a server that accepts no writes any more', { code: '25006' }, `nextval('events_id_seq')`, undefined],
    ])('closes a connection %s', async (_, error, call, timeoutMs) => {
      const before = await connection();
      const set = (text: string) => statements.all(owner, { name: text, text: `${text} where $1::integer > 0` }, []);
      if (call.startsWith('nextval')) await set(`select set_config('default_transaction_read_only', 'on', false)`);
      const statement = { name: call, text: `select ${call}::text where $1::integer > 0` };
      await expect(statements.all(owner, statement, [], { timeoutMs })).rejects.toMatchObject(error);
      expect(await connection()).not.toBe(before);
    });
  });
});
