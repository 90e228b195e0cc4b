import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../src/database/data-source';
import { type TestDatabase, testDatabase } from './support/database';

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
    const begun = performance.now();
    const work = dataSource.transaction((manager) => manager.query('select pg_sleep(10)'));
    await expect(work).rejects.toThrow('Query read timeout');
    expect(performance.now() - begun).toBeLessThan(2 * LIMIT);
  });

  it.each([
    ['a transaction', () => dataSource.transaction((manager) => manager.query('select pg_sleep(10)'))],
    ['a query', () => dataSource.query('select pg_sleep(10)')],
  ])('costs %s its connection: the next user of the pool does not wait behind it', async (_, hang) => {
    await expect(hang()).rejects.toThrow('Query read timeout');
    expect(await dataSource.query('select 1 as one')).toEqual([{ one: 1 }]);
  });
});
