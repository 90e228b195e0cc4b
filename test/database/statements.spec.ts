import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import { dataSourceOptions, operatorDataSourceOptions } from '../../src/data/database/data-source';
import { isConnectionError } from '../../src/data/database/errors';
import { Overloaded, RowNotFound } from '../../src/errors/exceptions';
import { JsonText, Statements, type Statement } from '../../src/data/database/statements';
import { Transactions } from '../../src/data/database/transactions';
import { Writes } from '../../src/data/database/writes';
import { query, type TestDatabase } from '../../src/testing/test-database';
import { createTestDatabase } from '../support/database';
import { InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { waitUntil } from '../support/wait';

describe('a statement', () => {
  let lanyard: InProcess;
  let statements: Statements;
  beforeAll(async () => {
    lanyard = await startInProcess();
    statements = lanyard.app.get(Statements);
  });

  const owner = { organizationId: 7, keyId: '' };

  it('has the organization as its first parameter, and the values after it', async () => {
    const statement = { name: 'test.first', text: `select $1::text || ' ' || $2::text` };
    expect(String(await statements.selectOne(owner, statement, ['a']))).toBe('7 a');
    const shared = { name: 'test.shared', text: 'select $1::text', isShared: true } as const;
    expect(String(await statements.selectOne(owner, shared, ['a']))).toBe('a');
  });

  it.each([
    ['null::text', 'null'],
    ['7', '7'],
    [`'{"a": [1]}'::jsonb`, '{"a":[1]}'],
  ])('gives JSON text of what the driver has read: %s', async (column, text) => {
    const statement = { name: `test ${column}`, text: `select ${column} where $1::integer > 0` };
    expect(await statements.selectOne(owner, statement, [])).toEqual(new JsonText(text));
  });

  it('is refused when it does not use the organization', async () => {
    const forgetful = { name: 'test.forgetful', text: `select 'everything'` };
    const error = await statements.selectJson(owner, forgetful, []).catch((reason: unknown) => reason);
    expect(String(error)).toContain('requires 0');
    expect(isConnectionError(error)).toBe(false);
  });

  it('that has no row is RowNotFound, where one is needed', async () => {
    const none = { name: 'test.none', text: `select 'x' where $1::integer = 0` };
    expect(await statements.selectJson(owner, none, [])).toEqual([]);
    await expect(statements.selectOne(owner, none, [])).rejects.toBeInstanceOf(RowNotFound);
  });

  describe('that fails', () => {
    /** The connection that comes next out of the pool, which is the one that was released last. */
    const connection = async () => {
      const pid = { name: 'test.pid', text: 'select pg_backend_pid()::text where $1::integer > 0' };
      return (await statements.selectOne(owner, pid, [])).text;
    };

    const NOT_CANCELED = `set_config('statement_timeout', '0', false)`;
    const READ_ONLY = `set_config('default_transaction_read_only', 'on', false)`;

    it.each<[string, object, string, ...string[]]>([
      ['that is not answered', { driverError: { message: 'Query read timeout' } }, 'pg_sleep(60)', NOT_CANCELED],
      ['that was lost', { code: '57P01' }, 'pg_terminate_backend(pg_backend_pid())'],
      ['to a server that accepts no writes any more', { code: '25006' }, `nextval('events_id_seq')`, READ_ONLY],
    ])('closes a connection %s', async (_, error, call, ...settings) => {
      const before = await connection();
      const select = (expression: string) =>
        statements.selectJson(
          owner,
          { name: expression, text: `select ${expression}::text where $1::integer > 0` },
          [],
        );
      for (const setting of settings) await select(setting);
      await expect(select(call)).rejects.toMatchObject(error);
      expect(await connection()).not.toBe(before);
    });
  });
});

describe('a write', () => {
  let lanyard: InProcess;
  let writes: Writes;
  let db: DataSource;
  let owner: Tenant;
  beforeAll(async () => {
    lanyard = await startInProcess();
    [writes, db] = [lanyard.app.get(Writes), lanyard.app.get(DataSource)];
    owner = await lanyard.tenant();
    // A sequence is not rolled back, and so counts attempts.
    await db.query(`
      create sequence attempts;
      create function fails_twice(state text) returns text language plpgsql as $$ begin
        if nextval('attempts') < 3 then raise exception using errcode = state; end if;
        return 'done';
      end $$`);
  });
  beforeEach(() => db.query('alter sequence attempts restart'));

  /** Runs work in the transaction of a request with an Idempotency-Key. */
  const idempotently = <T>(work: () => Promise<T>): Promise<T> =>
    writes.transaction(owner, (manager) => lanyard.app.get(Transactions).runOn(manager, work));
  const FAILS_TWICE = { name: 'test.failsTwice', text: 'select fails_twice($2) where $1::integer > 0' };
  const SLEEP = { name: 'test.sleep', text: 'select pg_sleep(60)::text where $1::integer > 0' };

  it.each(['40P01', '40001', '23503'])('runs again after %s', async (state) => {
    expect(String(await writes.write(owner, FAILS_TWICE, [state]))).toBe('done');
  });

  describe('of a batch', () => {
    /** The outcomes of writes that wait for a first one, and so are one statement. */
    const batch = (statement: Statement, ...inputs: object[]) =>
      Promise.all(
        [{}, ...inputs].map((input) =>
          writes.writeBatched(owner, statement, input).catch((error: unknown) => (error as Error).message),
        ),
      );

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
      expect(outcomes.map(String)).toEqual(['a', expect.stringContaining('violates foreign key'), 'c']);
    });

    it('runs at once, in its own transaction, when the request has an Idempotency-Key', async () => {
      const statement = {
        name: 'test.sizes',
        text: `select jsonb_array_length($2) || ' ' || pg_current_xact_id() from jsonb_array_elements($2)
          where $1::integer > 0`,
      };
      const transaction = { name: 'test.transaction', text: 'select pg_current_xact_id()::text where $1::integer > 0' };
      const [id, write] = await idempotently(async () => [
        (await writes.write(owner, transaction, [])).text,
        (await writes.writeBatched(owner, statement, {})).text,
      ]);
      expect(write).toBe(`1 ${id}`);
    });
  });

  describe('that was cancelled after the time of a statement, and may take longer', () => {
    /** Runs a statement when the write begins anew. */
    const long = ({ app }: InProcess, statement: Statement) =>
      app.get(Writes).transaction(
        owner,
        async (manager) => {
          const { timeoutMs } = app.get(Transactions).settings;
          if (!timeoutMs) await manager.query(`do $$ begin raise exception using errcode = '57014'; end $$`);
          return app.get(Statements).selectOne(owner, statement, []);
        },
        true,
      );

    it('has 50 s, and PostgreSQL cancels it within a second after its connection was lost', async () => {
      const names = ['statement_timeout', 'lock_timeout', 'client_connection_check_interval'];
      const settings = names.map((name) => `current_setting('${name}')`).join(` || ' ' || `);
      const statement = { name: 'test.settings', text: `select ${settings} where $1::integer > 0` };
      expect(String(await long(lanyard, statement))).toBe('50s 1300ms 1s');
      expect(String(await writes.write(owner, statement, []))).toBe('1500ms 1300ms 0');
    });

    it('is cancelled when the server stops, and no other one starts then', async () => {
      const stopping = await startInProcess({ databaseUrl: lanyard.config.databaseUrl });
      const sleeping = () =>
        query(
          lanyard.config.databaseUrl as string,
          `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'
            and query like '%pg_sleep(60)%' and xact_start is not null`,
        );
      await waitUntil(async () => (await sleeping()).length === 0);
      const outcome = long(stopping, SLEEP).catch((error: unknown) => error);
      await waitUntil(async () => (await sleeping()).length === 1);
      stopping.app.get(Writes).beforeApplicationShutdown();
      expect(isConnectionError(await outcome)).toBe(true);
      await waitUntil(async () => (await sleeping()).length === 0);
      await expect(long(stopping, SLEEP)).rejects.toBeInstanceOf(Overloaded);
    });
  });
});

describe('a connection', () => {
  let database: TestDatabase;
  beforeEach(async () => void (database = await createTestDatabase()));

  it('has settings of its own, whatever the role or the database has', async () => {
    const name = new URL(database.url).pathname.slice(1);
    const names = [
      'default_transaction_isolation',
      'statement_timeout',
      'lock_timeout',
      'idle_in_transaction_session_timeout',
    ];
    for (const each of names) {
      const value = each === 'default_transaction_isolation' ? 'serializable' : '100';
      await query(database.url, `alter database "${name}" set ${each} = ${value}`);
    }
    const settingsOf = async (options: PostgresDataSourceOptions): Promise<unknown[]> => {
      const dataSource = await new DataSource(options).initialize();
      const [settings] = (await dataSource.query(
        `select ${names.map((each) => `current_setting('${each}')`).join(" || ', ' || ")} as all`,
      )) as [{ all: string }];
      await dataSource.destroy();
      return settings.all.split(', ');
    };
    expect(await settingsOf(dataSourceOptions(database.url, 1))).toEqual(['read committed', '1500ms', '1300ms', '5s']);
    expect(await settingsOf(operatorDataSourceOptions(database.url))).toEqual(['read committed', '0', '0', '0']);
  });
});
