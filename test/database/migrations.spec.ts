import { DataSource, type QueryRunner } from 'typeorm';
import { operatorDataSourceOptions } from '../../src/database/data-source';
import { migrate } from '../../src/database/migrate';
import { createDatabase, emptyDatabase, TestDatabase } from '../support/database';
import { lockWaits, query, until } from '../support/embedded-fixtures';
import { Operator, outcomeOf } from '../support/operator';

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

  it('are applied by the operator, before a server starts', async () => {
    const operator = new Operator({ DATABASE_URL: database.url });
    const { applied } = await operator.json<{ applied: string[] }>(['migrate']);
    await dataSource.initialize();
    expect(applied).toHaveLength(dataSource.migrations.length);
    expect(await operator.json(['migrate'])).toEqual({ applied: [] });
  });

  it.each(['UTF8', 'SQL_ASCII'])('say what a search lacks in the locale C: %s', async (encoding) => {
    const plain = await createDatabase(`template0 encoding '${encoding}' locale_provider libc locale 'C'`);
    const lines: string[] = [];
    expect(await migrate(plain.url, { say: (line) => lines.push(line) })).not.toEqual([]);
    expect(lines).toEqual([expect.stringContaining('letters beyond ASCII only as they are written')]);
    await plain.drop();
  });

  it('are not begun where letters are missing', async () => {
    const latin = await createDatabase("template0 encoding 'LATIN1' locale_provider libc locale 'C'");
    const { status, stdout, stderr } = await new Operator({ DATABASE_URL: latin.url }).run(['migrate']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^DATABASE_URL: the database \w+ has the encoding LATIN1: create it with .*\n$/);
    expect(await query(latin.url, 'select from pg_tables where schemaname = current_schema()')).toEqual([]);
    await latin.drop();
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
      expect(await outcomeOf(child)).toEqual({ status: 130, stdout: '', stderr });
      await busy.release();
    },
  );

  /** A text of the functions that is not the present one: applying them drops triggers, and so waits for tables. */
  const haveThemReplaced = () => query(database.url, "update applied_functions set hash = 'another'");
  /** A transaction that has a table for long, as an import may. */
  async function longTransaction(): Promise<QueryRunner> {
    await dataSource.initialize();
    const long = dataSource.createQueryRunner();
    await long.startTransaction();
    await long.query("insert into industry_events (name) values ('Imported')");
    return long;
  }

  it('end, too, while they wait for a table', async () => {
    await migrate(database.url);
    await haveThemReplaced();
    const long = await longTransaction();
    const child = new Operator({ DATABASE_URL: database.url }).start(['organizations', 'list']);
    child.stderr?.once('data', () => child.kill('SIGINT'));
    const stderr = expect.stringMatching(/^Waiting for an import.*\ninterrupted\n$/) as string;
    expect(await outcomeOf(child)).toEqual({ status: 130, stdout: '', stderr });
    await long.rollbackTransaction();
    await long.release();
  });

  it('give way to a transaction that has a table for long, and come after it', async () => {
    await migrate(database.url);
    await haveThemReplaced();
    const long = await longTransaction();
    const said: string[] = [];
    const migrated = migrate(database.url, { say: (line) => void said.push(line) });
    await until(async () => (await lockWaits(database.url)) === 1);
    // Whoever stands behind it has a turn.
    await query(database.url, 'update industry_events set name = name where false');
    await long.commitTransaction();
    await long.release();
    await migrated;
    expect(said).toEqual([expect.stringContaining('Waiting for an import')]);
    const [applied] = await query(database.url, 'select hash from applied_functions');
    expect(applied?.hash).not.toBe('another');
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
