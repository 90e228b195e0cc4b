import { Client } from 'pg';
import { DataSource } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import { dataSourceOptions, operatorDataSourceOptions } from '../../src/database/data-source';
import { type TestDatabase, testDatabase } from '../support/database';
import { query } from '../support/embedded-fixtures';

describe('a connection', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await testDatabase();
  });
  afterEach(() => database.drop());

  it('has settings of its own, whatever the role or the database has', async () => {
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
  });

  it('loses its locks when its process vanishes in the middle of a transaction', async () => {
    const extra = dataSourceOptions(database.url, 1).extra as object;
    const client = new Client({
      connectionString: database.url,
      ...extra,
      idle_in_transaction_session_timeout: 100,
    });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('create table rows as select 1 as id');
    await client.query('begin; select from rows for update'); // one message, so that it is not idle in between
    await query(database.url, 'update rows set id = 2'); // waits for the lock
    await expect(client.query('commit')).rejects.toThrow();
    await client.end();
  });
});
