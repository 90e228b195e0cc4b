import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Pool, type PoolConfig } from 'pg';
import { DataSource } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import { dataSourceOptions, operatorDataSourceOptions } from '../../src/database/data-source';
import { type TestDatabase, testDatabase } from '../support/database';
import { query } from '../support/embedded-fixtures';

/** Milliseconds: so much shorter than a statement, that the statement seems to hang. */
const LIMIT = 500;

describe('a statement that is not answered in time', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  beforeAll(async () => {
    database = await testDatabase();
    const options = dataSourceOptions(database.url, 1);
    const extra = { ...(options.extra as object), statement_timeout: 0, query_timeout: LIMIT };
    dataSource = await new DataSource({ ...options, extra }).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  it('fails a transaction at once: nothing waits for a rollback behind it', async () => {
    let failed = 0;
    const work = dataSource.transaction((manager) =>
      manager.query('select pg_sleep(10)').finally(() => (failed = performance.now())),
    );
    await expect(work).rejects.toThrow('Query read timeout');
    expect(performance.now() - failed).toBeLessThan(LIMIT / 2);
  });

  it.each([
    ['a transaction', () => dataSource.transaction((manager) => manager.query('select pg_sleep(10)'))],
    ['a query', () => dataSource.query('select pg_sleep(10)')],
  ])('costs %s its connection: the next user of the pool does not wait behind it', async (_, hang) => {
    await expect(hang()).rejects.toThrow('Query read timeout');
    expect(await dataSource.query('select 1 as one')).toEqual([{ one: 1 }]);
  });
});

/** A connection as those for requests, but for what is given. */
async function connected(settings: PoolConfig) {
  const database = await testDatabase();
  const { extra } = dataSourceOptions('', 1);
  const pool = new Pool({ connectionString: database.url, ...(extra as object), ...settings });
  pool.on('error', () => undefined);
  const client = await pool.connect();
  const end = (): Promise<void> => {
    client.release(true);
    return pool.end();
  };
  return { database, client, end };
}

it('is not given up because this process stood still, while the answer came', async () => {
  const { database, client, end } = await connected({ query_timeout: 50 });
  const answer = client.query('select 1 as one');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  expect((await answer).rows).toEqual([{ one: 1 }]);
  await end();
  await database.drop();
});

it('may be asked with a callback alone, as TypeORM does', async () => {
  const { database, client, end } = await connected({});
  const rows = await new Promise((resolve, reject) => {
    client.query('select 1 as one', (error, result) => (error ? reject(error) : resolve(result.rows)));
  });
  expect(rows).toEqual([{ one: 1 }]);
  await end();
  await database.drop();
});

it('has settings of its own, whatever the role or the database has', async () => {
  const database = await testDatabase();
  const name = new URL(database.url).pathname.slice(1);
  const names = [
    'default_transaction_isolation',
    ...['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'],
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
  await database.drop();
});

it('is not kept to a server that takes no writes any more: a new one leads to whoever is the primary now', async () => {
  const database = await testDatabase();
  const name = new URL(database.url).pathname.slice(1);
  const demote = (is: 'on' | 'off') =>
    query(database.url, `begin read write; alter database "${name}" set default_transaction_read_only = ${is}; commit`);
  const dataSource = new DataSource(dataSourceOptions(database.url, 1));
  const write = (): Promise<unknown> => dataSource.query('create table written ()');
  await demote('on');
  await dataSource.initialize();
  await expect(write()).rejects.toMatchObject({ code: '25006' });
  await demote('off');
  await expect(write()).resolves.toEqual([]);
  await dataSource.destroy();
  await database.drop();
});

it('gives the locks of a client up that vanished in the middle of a transaction', async () => {
  expect(dataSourceOptions('', 1).extra).toMatchObject({ idle_in_transaction_session_timeout: 5000 });
  const { database, client, end } = await connected({ idle_in_transaction_session_timeout: 100 });
  await client.query('create table rows as select 1 as id');
  await client.query('begin; select from rows for update'); // in one, so that it is not idle in between
  await query(database.url, 'update rows set id = 2'); // waits for the lock
  await expect(client.query('commit')).rejects.toThrow();
  await end();
  await database.drop();
});

/** A message of PostgreSQL's protocol: its kind, its length, its content. */
const message = (kind: string, content: Buffer): Buffer => {
  const head = Buffer.from(`${kind}\0\0\0\0`);
  head.writeInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
};

describe('a connection that is ended by the administrator in the moment when it is made', () => {
  it('fails what is asked next, and not the process', async () => {
    const welcome = [message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))];
    const end = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));
    const server = createServer((socket) => {
      // In one piece, so that nobody had the time to listen for errors.
      socket.once('data', () => socket.end(Buffer.concat([...welcome, end])));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { extra } = dataSourceOptions('', 1);
    const pool = new Pool({ host: '127.0.0.1', port, user: 'x', ...(extra as object) });
    pool.on('error', () => undefined);
    const client = await pool.connect();
    await expect(client.query('select 1')).rejects.toThrow();
    client.release();
    await pool.end();
    server.close();
  });
});
