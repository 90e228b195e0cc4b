import { DataSource } from 'typeorm';
import { operatorDataSourceOptions } from '../../src/database/data-source';
import { migrate } from '../../src/database/migrate';
import { emptyDatabase, TestDatabase } from '../support/database';

describe('the words of stored records', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  beforeAll(async () => {
    database = await emptyDatabase();
    await migrate(database.url);
    dataSource = await new DataSource(operatorDataSourceOptions(database.url)).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const rows = <T>(sql: string): Promise<T[]> => dataSource.query<T[]>(sql);
  const found = async (q: string): Promise<number> => {
    const [row] = await rows<{ total: string }>(`select total from search_industry_events('${q}', 20, 0)`);
    return Number(row?.total);
  };
  const functions = async () =>
    (
      await rows<{ definition: string }>(
        `select pg_get_functiondef(oid) as definition from pg_proc
        where proname in ('words_of', 'parts_of', 'query_of', 'words_of_industry_event') order by proname`,
      )
    ).map(({ definition }) => definition.replace(/\s+/g, ' '));
  const version = async () =>
    (await rows<{ version: string }>(`select version from lists where name = 'industry_events'`))[0]?.version;
  const written = async () =>
    Object.fromEntries(
      (
        await rows<{ name: string; xmin: string }>(
          `select e.name, w.xmin from industry_event_words w join industry_events e on e.id = w.id`,
        )
      ).map(({ name, xmin }) => [name, xmin]),
    );

  /** Back to what it was before words beside signs were found. */
  const undo = async (): Promise<void> => {
    const isApplied = () => rows(`select from migrations where name = 'WordsBesideSigns1768262400000'`);
    while ((await isApplied()).length > 0) await dataSource.undoLastMigration();
  };

  it.each([
    ...[...'_-.:/@~+%=&'].flatMap((sign) => [`a${sign}`, `1${sign}`, `a${sign}-`, `a_b${sign}`, `a-b${sign}`]),
    ...['ab_1-', 'a', '_', 'http://a_', 'a@b.c_', 'a_ ', 'a_,'],
  ])('are made in time of 65,535 characters of %j', async (unit) => {
    const value = unit.repeat(65_535 / unit.length);
    await rows(`set statement_timeout = 1500; select words_of('${value}'), query_of('${value.slice(0, 3000)}')`);
  });

  it('are parts where a run of characters is too long to be one', async () => {
    const long = `${'part_'.repeat(60)}end.example`;
    const [row] = await rows(`select words_of('x-ray ${long}') @@ query_of('"x-ray ${long}"') as whole,
      words_of('${long}') @@ query_of('end.example') as ending, words_of('Node.js ${long}')::text like '%node.js%' as others`);
    expect(row).toEqual({ whole: true, ending: true, others: true });
  });

  it('are made anew, forth and back, where signs part them otherwise', async () => {
    const after = await functions();
    await undo();
    const before = await functions();
    expect(before).not.toEqual(after);
    await rows(`insert into industry_events (id, name, keywords, description) values
      (gen_random_uuid(), 'Plain', '{}', 'A fair'), (gen_random_uuid(), 'Tags', '{<webdev>}', null),
      (gen_random_uuid(), 'Names', '{}', 'AT&T fair')`);
    const [old, unchanged] = [await version(), await written()];
    expect([await found('webdev'), await found('AT&T')]).toEqual([0, 0]);

    await dataSource.runMigrations();
    expect([await found('webdev'), await found('AT&T')]).toEqual([1, 1]);
    expect(await version()).not.toBe(old);
    expect((await written()).Plain).toBe(unchanged.Plain);
    expect((await written()).Tags).not.toBe(unchanged.Tags);

    await undo();
    expect([await found('webdev'), await found('fair')]).toEqual([0, 2]);
    expect(await functions()).toEqual(before);
    await dataSource.runMigrations();
    expect(await functions()).toEqual(after);
  });
});
