import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { CurrentTransaction } from '../../src/database/current-transaction';
import { isConnectionFault, Overloaded, Retry } from '../../src/database/errors';
import { type Statement, Statements } from '../../src/database/statements';
import { Writes } from '../../src/database/writes';
import { query, until } from '../support/embedded-fixtures';
import { InProcess, startInProcess, type Tenant } from '../support/lanyard';

describe('a write', () => {
  let lanyard: InProcess;
  let writes: Writes;
  let statements: Statements;
  let db: DataSource;
  let owner: Tenant;
  beforeAll(async () => {
    lanyard = await startInProcess();
    [writes, statements, db] = [lanyard.app.get(Writes), lanyard.app.get(Statements), lanyard.app.get(DataSource)];
    owner = await lanyard.tenant();
    // A sequence is not rolled back, and so counts attempts.
    await db.query(`
      create sequence attempts;
      create function fails_twice(state text) returns text language plpgsql as $$ begin
        if nextval('attempts') < 3 then raise exception using errcode = state; end if;
        return 'done';
      end $$`);
  });
  afterAll(() => lanyard.stop());
  beforeEach(() => db.query('alter sequence attempts restart'));

  /** Runs work in the transaction of a request with an Idempotency-Key. */
  const idempotently = <T>(work: () => Promise<T>): Promise<T> =>
    writes.transaction(owner, (manager) => lanyard.app.get(CurrentTransaction).run(manager, work));
  const FAILS_TWICE = { name: 'test.failsTwice', text: 'select fails_twice($2) where $1::integer > 0' };
  const PID = { name: 'test.pid', text: 'select pg_backend_pid()::text where $1::integer > 0' };
  const SLEEP = { name: 'test.sleep', text: 'select pg_sleep(60)::text where $1::integer > 0' };

  it.each(['40P01', '40001', '23503'])('runs again after %s', async (state) => {
    expect(await writes.one(owner, FAILS_TWICE, [state])).toBe('done');
  });

  it.each(['40P01', '40001', '23503'])('runs again after %s, with its whole transaction', async (state) => {
    let runs = 0;
    const work = () => {
      runs++;
      return writes.one(owner, FAILS_TWICE, [state]);
    };
    expect([await idempotently(work), runs]).toEqual(['done', 3]);
  });

  it('runs again when it asks for that', async () => {
    let runs = 0;
    const work = () => (++runs < 3 ? Promise.reject(new Retry()) : Promise.resolve('done'));
    expect(await writes.transaction(owner, work)).toBe('done');
  });

  describe('of a batch', () => {
    /** The outcomes of writes that wait for a first one, and so are one statement. */
    const batch = (statement: Statement, ...inputs: object[]) =>
      Promise.all(
        [{}, ...inputs].map((input) =>
          writes.batched(owner, statement, input).catch((error: unknown) => (error as Error).message),
        ),
      );

    it('gets no row of another, when the statement leaves one out', async () => {
      const statement = {
        name: 'test.some',
        text: `select n::text from jsonb_to_recordset($2) as g (n integer) where $1::integer > 0 and n is distinct from 2`,
      };
      const refused = "'test.some' gives 2 rows for 3 inputs";
      expect((await batch(statement, { n: 1 }, { n: 2 }, { n: 3 })).slice(1)).toEqual([refused, refused, refused]);
    });

    it('fails alone when PostgreSQL refuses its row', async () => {
      const statement = {
        name: 'test.parents',
        text: `insert into tag_options (organization_id, id, tag_group_id, display_order, value)
          select $1, gen_random_uuid(), id, 0, n from jsonb_to_recordset($2) as g (n text, id uuid)
          where id is not null returning value`,
      };
      const group = { id: randomUUID(), name: 'Interests', tagOptions: [] };
      await owner.import({ tagGroups: [group] });
      const [, ...outcomes] = await batch(
        statement,
        { n: 'a', id: group.id },
        { n: 'b', id: randomUUID() },
        { n: 'c', id: group.id },
      );
      expect(outcomes).toEqual(['a', expect.stringContaining('violates foreign key'), 'c']);
    });

    it('runs at once, in its own transaction, when the request has an Idempotency-Key', async () => {
      const statement = {
        name: 'test.sizes',
        text: `select jsonb_array_length($2) || ' ' || pg_current_xact_id() from jsonb_array_elements($2)
          where $1::integer > 0`,
      };
      const transaction = { name: 'test.transaction', text: 'select pg_current_xact_id()::text where $1::integer > 0' };
      const [id, write] = await idempotently(async () => [
        await writes.one(owner, transaction, []),
        await writes.batched(owner, statement, {}),
      ]);
      expect(write).toBe(`1 ${id}`);
    });
  });

  describe('of several statements', () => {
    it('is undone when one fails, and leaves its connection in the pool', async () => {
      const before = await statements.one(owner, PID, []);
      const work = writes.transaction(owner, async (manager) => {
        await manager.query('create table undone ()');
        await manager.query('select 1 / 0');
      });
      await expect(work).rejects.toMatchObject({ code: '22012' });
      expect(await db.query(`select to_regclass('undone') as name`)).toEqual([{ name: null }]);
      expect(await statements.one(owner, PID, [])).toBe(before);
    });

    it('closes a connection that does not answer, instead of waiting for a rollback', async () => {
      const before = await statements.one(owner, PID, []);
      const work = writes.transaction(owner, (manager) => statements.one(owner, SLEEP, [], { manager, timeoutMs: 50 }));
      await expect(work).rejects.toThrow('Query read timeout');
      expect(await statements.one(owner, PID, [])).not.toBe(before);
    });
  });

  describe('that may take long', () => {
    it('has 50 s, and PostgreSQL cancels it within a second after its connection was lost', async () => {
      const names = ['statement_timeout', 'lock_timeout', 'client_connection_check_interval'];
      const settings = names.map((name) => `current_setting('${name}')`).join(` || ' ' || `);
      const statement = { name: 'test.settings', text: `select ${settings} where $1::integer > 0` };
      expect(await writes.long(owner, statement, [])).toBe('50s 1300ms 1s');
      expect(await writes.one(owner, statement, [])).toBe('1500ms 1300ms 0');
    });

    it('is cancelled when the server stops, and no other one starts then', async () => {
      const stopping = await startInProcess({ databaseUrl: lanyard.config.databaseUrl });
      const sleeping = () =>
        query(
          lanyard.config.databaseUrl as string,
          `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'
            and query like '%pg_sleep(60)%' and xact_start is not null`,
        );
      await until(async () => (await sleeping()).length === 0);
      const stopped = stopping.app.get(Writes);
      const outcome = stopped.long(owner, SLEEP, []).catch((error: unknown) => error);
      await until(async () => (await sleeping()).length === 1);
      stopped.beforeApplicationShutdown();
      expect(isConnectionFault(await outcome)).toBe(true);
      await until(async () => (await sleeping()).length === 0);
      await expect(stopped.long(owner, SLEEP, [])).rejects.toBeInstanceOf(Overloaded);
      await stopping.stop();
    });
  });
});
