import { DataSource, type QueryRunner } from 'typeorm';
import { version } from '../../package.json';
import { operatorDataSourceOptions } from '../../src/data/database/data-source';
import { createDataSource } from '../../src/data/database/data-source.module';
import { compareReleases, OLDEST_RELEASE } from '../../src/data/schema/schema-release';
import { query, type TestDatabase } from '../../src/testing/test-database';
import { createDatabase } from '../support/database';
import { Operator, waitForOutcome } from '../support/operator';
import { migrate } from '../support/contexts';

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
    database = await createDatabase();
    dataSource = await createDataSource(operatorDataSourceOptions(database.url));
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
    expect(stderr).toMatch(/^DATABASE_URL: the database \w+ has the encoding LATIN1. Create it with .*\n$/);
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
      const stderr = 'Waiting for another process to finish migrating the database\nInterrupted\n';
      expect(await waitForOutcome(child)).toEqual({ status: null, stdout: '', stderr });
      expect(child.signalCode).toBe('SIGINT');
      await busy.release();
    },
  );

  it('are reverted one by one, but never the initial one', async () => {
    await migrate(database.url);
    await dataSource.initialize();
    for (const _ of dataSource.migrations.slice(1)) await dataSource.undoLastMigration();
    await expect(dataSource.undoLastMigration()).rejects.toThrow('The initial migration cannot be reverted because');
    expect(await query(database.url, 'select from leads, organizations')).toEqual([]);
    expect(await query(database.url, 'select from migrations')).toHaveLength(1);
  });

  it('that were reverted and are applied again leave all functions and triggers in place', async () => {
    await migrate(database.url);
    const triggers = () =>
      query(
        database.url,
        'select tgrelid::regclass::text as "table", tgname from pg_trigger where not tgisinternal order by 1, 2',
      );
    const before = await triggers();
    await dataSource.initialize();
    for (const _ of dataSource.migrations.slice(1)) await dataSource.undoLastMigration();
    await migrate(database.url);
    expect(await triggers()).toEqual(before);
  });

  describe('of other releases', () => {
    const OBJECTS = 'select relname, xmin from pg_class where relnamespace = current_schema()::regnamespace order by 1';
    /** What may not change when a database is rejected. */
    const contents = async () => [
      await query(database.url, OBJECTS),
      await query(database.url, 'select * from migrations'),
      await query(database.url, 'select proname, xmin from pg_proc order by oid'),
    ];
    const rejection = async () => {
      const before = await contents();
      const operator = new Operator({ DATABASE_URL: database.url });
      const { status, stdout, stderr } = await operator.serve();
      expect({ status, stdout, lines: stderr.split('\n').length }).toEqual({ status: 1, stdout: '', lines: 2 });
      expect(await operator.run(['migrate'])).toEqual({ status, stdout, stderr });
      expect(await contents()).toEqual(before);
      return stderr;
    };
    /** What an extension from another repository writes, of before and after all of ours. */
    const addExtensions = () =>
      query(
        database.url,
        `insert into migrations (timestamp, name) values (1500000000000, 'Badges1500000000000'),
          (1999999999999, 'Lockers1999999999999')`,
      );
    const migratedBy = (release: string, oldestRelease: string) =>
      query(
        database.url,
        `insert into migrations (timestamp, name) values (1895564800000, 'Later1895564800000');
        insert into schema_releases values ('${release}', '${oldestRelease}', 'Later1895564800000');
        update applied_functions set hash = 'later'`,
      );

    it('0.1.0 are rejected before anything is written, with the way out', async () => {
      await query(database.url, FIRST_RELEASE);
      await addExtensions();
      expect(await rejection()).toMatch(
        /^The database was created by Lanyard 0\.1\.0 and cannot be upgraded\. Export /,
      );
    });

    it('the next one are run on, and its functions are left as they are', async () => {
      await migrate(database.url);
      await migratedBy('0.3.0', '0.2.0');
      await addExtensions();
      const before = await contents();
      expect(await migrate(database.url)).toEqual([]);
      expect(await contents()).toEqual(before);
      expect(await query(database.url, 'select hash from applied_functions')).toEqual([{ hash: 'later' }]);
      const check = await new Operator({ DATABASE_URL: database.url }).run(['check']);
      expect(check).toMatchObject({ status: 0, stderr: '' });
      await query(database.url, 'drop trigger t60_change_inserted on leads');
      const stderr = expect.stringContaining(
        'belong to another release of Lanyard, or to an extension. Repair them',
      ) as string;
      const repair = await new Operator({ DATABASE_URL: database.url }).run(['check', '--repair']);
      expect(repair).toEqual({ status: 1, stdout: '', stderr });
    });

    it('a newer one still are rejected, before anything is written', async () => {
      await migrate(database.url);
      await migratedBy('0.4.0', '0.3.0');
      expect(await rejection()).toBe(
        'The database was migrated by Lanyard 0.4.0, and Lanyard 0.2.0 cannot run on its schema. ' +
          'Start Lanyard 0.3.0 or newer.\n',
      );
    });

    it('a newer one that were reverted are forgotten', async () => {
      await migrate(database.url);
      await migratedBy('0.4.0', '0.3.0');
      await query(database.url, `delete from migrations where name like 'Later%'`);
      expect(await migrate(database.url)).toEqual([]);
      expect(await query(database.url, `select from applied_functions where hash = 'later'`)).toEqual([]);
    });

    it('an extension are no sign of another release', async () => {
      await migrate(database.url);
      await addExtensions();
      expect(await migrate(database.url)).toEqual([]);
    });
  });

  it('record the release, and the oldest one that runs on its schema', async () => {
    await migrate(database.url);
    await dataSource.initialize();
    const [row] = await query(database.url, 'select * from schema_releases');
    const last_migration = dataSource.migrations
      .map(({ constructor }) => constructor.name)
      .sort(byTimestamp)
      .at(-1);
    expect(row).toEqual({ release: version, oldest_release: OLDEST_RELEASE, last_migration });
    expect(compareReleases(OLDEST_RELEASE, version)).toBeLessThanOrEqual(0);
  });
});

/** Class names end in their timestamp. */
const byTimestamp = (one: string, other: string): number => Number(one.slice(-13)) - Number(other.slice(-13));

it.each([
  ['0.2.0', '0.10.0', -1],
  ['1.0.0', '0.10.3', 1],
  ['0.2.1', '0.2.1', 0],
  ['0.3.0-rc.1', '0.3.0', 0],
])('release %s is compared with %s by its numbers', (one, other, expected) => {
  expect(Math.sign(compareReleases(one, other))).toBe(expected);
});

/** The migrations that a database of 0.1.0 has applied, and the beginning of its initial schema. */
const FIRST_RELEASE = `
  create table migrations (id serial primary key, timestamp bigint not null, name varchar not null);
  insert into migrations (timestamp, name) values
    (1767225600000, 'InitialSchema1767225600000'),
    (1767312000000, 'ListsAndDocuments1767312000000'),
    (1767398400000, 'IndustryEventWords1767398400000'),
    (1767484800000, 'IdempotentAnswers1767484800000'),
    (1767571200000, 'KeyUsage1767571200000');
  create table organizations (
    id integer generated always as identity constraint organizations_pkey primary key,
    name text not null,
    created_at timestamptz(3) not null default now()
  )`;
