import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { query, type TestDatabase } from '../../src/testing/test-database';
import { migrate } from '../support/contexts';
import { createDatabase, createTestDatabase } from '../support/database';
import { type InProcess, startInProcess } from '../support/lanyard';
import { Operator } from '../support/operator';

/** A database as an earlier commit has made and filled it, through its commands and its API. */
interface FormerDatabase {
  commit: string;
  /** An API key of the organization whose answers these are. */
  key: string;
  /** The `results` of GET requests, by path and query. */
  answers: Record<string, object>;
  tables: string[];
  /** What pg_dump has written. */
  sql: string;
}

const FILE = join(__dirname, 'upgrades/0.2.0-e3c39bec.json.gz');
const former = JSON.parse(gunzipSync(readFileSync(FILE)).toString()) as FormerDatabase;

/** Everything of a schema but the order of columns, which depends on when they were added. */
const SCHEMA_QUERIES: Record<string, string> = {
  columns: `
    select attrelid::regclass::text as "table", attname, format_type(atttypid, atttypmod) as type, attnotnull, attgenerated,
      attidentity, pg_get_expr(adbin, adrelid) as "default"
    from pg_attribute join pg_class on pg_class.oid = attrelid
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where relkind = 'r' and relnamespace = 'public'::regnamespace and attnum > 0 and not attisdropped order by 1, 2`,
  constraints: `
    select conrelid::regclass::text as "table", conname, pg_get_constraintdef(oid) as definition, convalidated
    from pg_constraint where connamespace = 'public'::regnamespace and contype <> 'n' order by 1, 2`,
  indexes: `select tablename, indexname, indexdef from pg_indexes where schemaname = 'public' order by 1, 2`,
  triggers: `
    select tgrelid::regclass::text as "table", tgname, pg_get_triggerdef(oid) as definition, tgenabled
    from pg_trigger where not tgisinternal order by 1, 2`,
  functions: `
    select proname, pg_get_functiondef(oid) as definition from pg_proc
    where pronamespace = 'public'::regnamespace and prokind = 'f' and probin is null order by 1, 2`,
};

/** The conditions of a trigger stand in the order of columns. */
const withoutOrder = (definition: unknown): unknown =>
  typeof definition === 'string' && definition.startsWith('CREATE TRIGGER')
    ? definition
        .replaceAll(/[()]/g, '')
        .split(/ (?:WHEN|OR|EXECUTE) /)
        .sort()
    : definition;

async function schemaOf(url: string, kind: string): Promise<object[]> {
  const rows = await query(url, SCHEMA_QUERIES[kind] ?? '');
  return rows.map((row) => ({ ...row, definition: withoutOrder(row.definition) }));
}

describe(`a database of commit ${former.commit} with data in every table`, () => {
  let database: TestDatabase;
  let lanyard: InProcess;

  beforeAll(async () => {
    database = await createDatabase();
    await query(database.url, former.sql);
    await migrate(database.url);
    lanyard = await startInProcess({ databaseUrl: database.url });
  }, 60_000);

  it('keeps a row of every table', async () => {
    const counts = await Promise.all(
      former.tables.map(async (table) => {
        const [row] = await query(database.url, `select exists (select from ${table}) as found`).catch(() => []);
        return [table, row?.found ?? true];
      }),
    );
    expect(counts.filter(([, found]) => !found)).toEqual([]);
  });

  it.each(Object.keys(SCHEMA_QUERIES))('has the %s of a new database after the upgrade', async (kind) => {
    const fresh = await createTestDatabase();
    expect(await schemaOf(database.url, kind)).toEqual(await schemaOf(fresh.url, kind));
  });

  it.each(Object.keys(former.answers))('gives what it gave before for GET %s', async (path) => {
    const { body } = await lanyard.client(former.key).get(path).expect(200);
    expect(body.results).toMatchObject(former.answers[path] as object);
  });

  it('has nothing wrong in what is derived', async () => {
    const checked = await new Operator({ DATABASE_URL: database.url }).run(['check']);
    expect(checked).toMatchObject({ status: 0, stderr: '' });
  });
});
