import { DataSource } from 'typeorm';
import { operatorDataSourceOptions } from '../src/database/data-source';
import { migrate } from '../src/database/migrate';
import { emptyDatabase, TestDatabase } from './support/database';

describe('migrations', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await emptyDatabase();
    dataSource = new DataSource(operatorDataSourceOptions(database.url));
  });

  afterEach(async () => {
    if (dataSource.isInitialized) await dataSource.destroy();
    await database.drop();
  });

  it('bring an empty database to what the entities say (schema drift)', async () => {
    await migrate(database.url);
    await dataSource.initialize();
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });

  it('change nothing when they have been applied', async () => {
    expect(await migrate(database.url)).not.toEqual([]);
    expect(await migrate(database.url)).toEqual([]);
  });

  it('are applied once by processes that start together', async () => {
    const applied = await Promise.all([migrate(database.url), migrate(database.url), migrate(database.url)]);
    await dataSource.initialize();
    expect(applied.flat().length).toBe(dataSource.migrations.length);
  });

  it('can be reverted to an empty database', async () => {
    await migrate(database.url);
    await dataSource.initialize();
    for (const _ of dataSource.migrations) await dataSource.undoLastMigration();
    const [{ tables }] = await dataSource.query<[{ tables: number }]>(
      `select count(*)::int as tables from pg_tables where schemaname = 'public' and tablename <> 'migrations'`,
    );
    expect(tables).toBe(0);
    expect(await migrate(database.url)).not.toEqual([]);
  });
});
