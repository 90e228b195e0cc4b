import { DataSource, type QueryRunner } from 'typeorm';
import { operatorDataSourceOptions } from '../../src/database/data-source';
import { migrate } from '../../src/database/migrate';
import { createDatabase, emptyDatabase, TestDatabase } from '../support/database';
import { query } from '../support/embedded-fixtures';
import { Operator, outcomeOf } from '../support/operator';

/** TypeORM's schema builder sends many queries at once on one connection, of which pg warns. */
function queryOneAtATime(dataSource: DataSource): void {
  const createQueryRunner = dataSource.createQueryRunner.bind(dataSource);
  jest.spyOn(dataSource, 'createQueryRunner').mockImplementation((mode) => {
    const runner = createQueryRunner(mode);
    const query = runner.query.bind(runner) as (...args: unknown[]) => Promise<unknown>;
    let last: Promise<unknown> = Promise.resolve();
    runner.query = ((...args: unknown[]) => (last = last.then(() => query(...args)))) as QueryRunner['query'];
    return runner;
  });
}

describe('migrations', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await emptyDatabase();
    dataSource = new DataSource(operatorDataSourceOptions(database.url));
  });

  afterEach(async () => {
    if (dataSource.isInitialized) await dataSource.destroy();
  });

  it('bring an empty database to what the entities say (schema drift)', async () => {
    await migrate(database.url);
    await dataSource.initialize();
    queryOneAtATime(dataSource);
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });

  it('are applied by the operator, before a server starts', async () => {
    const operator = new Operator({ DATABASE_URL: database.url });
    const { applied } = await operator.json<{ applied: string[] }>(['migrate']);
    await dataSource.initialize();
    expect(applied).toHaveLength(dataSource.migrations.length);
    expect(await operator.json(['migrate'])).toEqual({ applied: [] });
  });

  it('are not begun where letters are missing', async () => {
    const latin = await createDatabase("template0 encoding 'LATIN1' locale_provider libc locale 'C'");
    const { status, stdout, stderr } = await new Operator({ DATABASE_URL: latin.url }).run(['migrate']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^DATABASE_URL: the database \w+ has the encoding LATIN1: create it with .*\n$/);
    expect(await query(latin.url, 'select from pg_tables where schemaname = current_schema()')).toEqual([]);
  });

  it('are applied once by processes that start together', async () => {
    const applied = await Promise.all([migrate(database.url), migrate(database.url), migrate(database.url)]);
    await dataSource.initialize();
    expect(applied.flat().length).toBe(dataSource.migrations.length);
  });

  it.each([['migrate'], ['organizations', 'list']])(
    'that another process is busy with are waited for, until Ctrl-C: %s',
    async (...command) => {
      await dataSource.initialize();
      const busy = dataSource.createQueryRunner();
      await busy.query('select pg_advisory_lock(7261914)');
      const child = new Operator({ DATABASE_URL: database.url }).start(command);
      child.stderr?.once('data', () => child.kill('SIGINT'));
      const stderr = 'Waiting for another process that migrates the database\ninterrupted\n';
      expect(await outcomeOf(child)).toEqual({ status: null, stdout: '', stderr });
      await busy.release();
    },
  );

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
