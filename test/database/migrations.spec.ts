import { DataSource } from 'typeorm';
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

  it('end, too, while they wait for a table', async () => {
    await migrate(database.url);
    await dataSource.initialize();
    await undo('WordsWithinWords1767830400000');
    const long = dataSource.createQueryRunner();
    await long.startTransaction();
    await long.query("insert into industry_events (id, name) values (gen_random_uuid(), 'Imported')");
    const child = new Operator({ DATABASE_URL: database.url }).start(['organizations', 'list']);
    child.stderr?.once('data', () => child.kill('SIGINT'));
    const stderr = expect.stringMatching(/^Waiting for an import.*\ninterrupted\n$/) as string;
    expect(await outcomeOf(child)).toEqual({ status: 130, stdout: '', stderr });
    await long.rollbackTransaction();
    await long.release();
  });

  /** Undoes the latest migrations, up to and including this one. */
  async function undo(name: string): Promise<void> {
    const latest = async () =>
      (await dataSource.query<{ name: string }[]>('select name from migrations order by id desc limit 1'))[0]?.name;
    for (let undone; undone !== name;) {
      undone = await latest();
      await dataSource.undoLastMigration();
    }
  }

  it('give way to a transaction that has a table for long, and come after it', async () => {
    await migrate(database.url);
    await dataSource.initialize();
    await undo('WordsWithinWords1767830400000');
    const long = dataSource.createQueryRunner();
    await long.startTransaction();
    await long.query("insert into industry_events (id, name) values (gen_random_uuid(), 'Imported')");
    const said: string[] = [];
    const migrated = migrate(database.url, { say: (line) => void said.push(line) });
    await until(async () => (await lockWaits(database.url)) === 1);
    // Who stands behind the migration has its turn.
    await query(database.url, 'update industry_events set name = name where false');
    await long.commitTransaction();
    await long.release();
    expect(await migrated).toContain('WordsWithinWords1767830400000');
    expect(said).toEqual([expect.stringContaining('Waiting for an import')]);
  });

  it('give way to a transaction that waits for them', async () => {
    await migrate(database.url);
    await dataSource.initialize();
    await undo('ListsInBlocks1768089600000');
    const { organizationId } = (
      await dataSource.query<[{ organizationId: number }]>(
        `insert into organizations (name) values ('Busy') returning id as "organizationId"`,
      )
    )[0];
    const long = dataSource.createQueryRunner();
    await long.startTransaction();
    await long.query('insert into leads (id, organization_id) values (gen_random_uuid(), $1)', [organizationId]);
    // So it is the migration that PostgreSQL ends.
    await long.query(`set local deadlock_timeout = '10min'`);
    await query(
      database.url,
      `alter database ${new URL(database.url).pathname.slice(1)} set deadlock_timeout = '500ms'`,
    );
    const migrated = migrate(database.url);
    await until(async () => (await lockWaits(database.url)) === 1);
    await long.query('lock table events in row exclusive mode');
    await long.commitTransaction();
    await long.release();
    expect(await migrated).toContain('ListsInBlocks1768089600000');
  });

  it('let totals be read while they wait for writers', async () => {
    await migrate(database.url);
    await dataSource.initialize();
    await undo('NothingLeftBehind1768435200000');
    const long = dataSource.createQueryRunner();
    await long.startTransaction();
    await long.query('lock table tag_options in row exclusive mode');
    const migrated = migrate(database.url);
    await until(async () => (await lockWaits(database.url)) === 1);
    expect(await query(`${database.url}?options=-c%20lock_timeout%3D100`, 'select name from lists')).toHaveLength(1);
    await long.commitTransaction();
    await long.release();
    expect(await migrated).toContain('NothingLeftBehind1768435200000');
  });

  it('go on from what was there before lists had versions', async () => {
    await migrate(database.url);
    await dataSource.initialize();
    await dataSource.query(`insert into industry_events (id, name) select gen_random_uuid(), 'Fair'
      from generate_series(1, 200)`);
    await undo('ListsInBlocks1768089600000');
    await dataSource.query(
      `alter table lists drop column version; update lists set blocks = '{}'; delete from list_blocks`,
    );
    await dataSource.destroy();
    expect(await migrate(database.url)).toContain('ListsInBlocks1768089600000');
    await dataSource.initialize();
    expect(await dataSource.query(`select version is not null as "hasVersion" from lists`)).toEqual([
      { hasVersion: true },
    ]);
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

  it('keep the words of the catalogue for the search, forth and back, until the record goes', async () => {
    await migrate(database.url);
    await dataSource.initialize();
    const found = async (): Promise<number> => {
      const [{ total }] = await dataSource.query<[{ total: string }]>(
        `select total from search_industry_events('crepe lodz', 20, 0)`,
      );
      return Number(total);
    };
    await dataSource.query(`insert into industry_events (id, name, venue_city, description)
      values (gen_random_uuid(), 'Fair', 'Łódź', 'All about crêpes.')`);
    expect(await found()).toBe(1);
    while ((await dataSource.query<unknown[]>(`select to_regclass('industry_event_words') as t`)).some(hasWords)) {
      await dataSource.undoLastMigration();
    }
    const inTheRow = `select from industry_events where search @@ websearch_to_tsquery('lanyard', 'crepe lodz')`;
    expect(await dataSource.query(inTheRow)).toHaveLength(1);
    await dataSource.runMigrations();
    expect(await found()).toBe(1);
    await dataSource.query('delete from industry_events');
    expect(await found()).toBe(0);
  });
});

const hasWords = (row: unknown): boolean => (row as { t: string | null }).t !== null;
