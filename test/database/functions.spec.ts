import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { SchemaFunctions, OWN_TRIGGER_PATTERN } from '../../src/data/schema/functions';
import { trackedListsOf } from '../../src/data/database/tracked-list';
import type { TestDatabase } from '../../src/testing/test-database';
import { asOperator, createTestDatabase } from '../support/database';
import { SCHEMA, migrate } from '../support/contexts';

/** Names and bodies of the functions in a text. */
const functionsIn = (text: string) =>
  [...text.matchAll(/^create or replace function (\w+)[^$]*\$\$(.*?)\$\$;$/gms)].map(([, name = '', body = '']) => ({
    name,
    body,
  }));

describe('functions and triggers', () => {
  let database: TestDatabase;
  let db: DataSource;
  let written: { name: string; body: string }[];
  beforeAll(async () => {
    database = await createTestDatabase();
    db = await asOperator(database.url);
    written = new SchemaFunctions(db, SCHEMA).texts.flatMap(functionsIn);
  });

  const stored = (): Promise<{ name: string; body: string }[]> =>
    db.query(`select proname as name, prosrc as body from pg_proc p
      where pronamespace = current_schema()::regnamespace
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`);
  const triggers = async (): Promise<string[]> => {
    const rows = await db.query<{ line: string }[]>(`select relname || ' ' || tgname as line
      from pg_trigger t join pg_class c on c.oid = t.tgrelid where not tgisinternal order by relname, tgname`);
    return rows.map(({ line }) => line);
  };
  const sorted = <T>(rows: T[]): string[] => rows.map((row) => JSON.stringify(row)).sort();

  it('stand in one text each, as the database has them', async () => {
    expect(written.length).toBeLessThanOrEqual(50);
    expect(sorted(written)).toEqual(sorted(await stored()));
  });

  it('of a table fire in the order of their names, which docs/locking.md has', async () => {
    const found = await triggers();
    expect(found.filter((line) => !new RegExp(OWN_TRIGGER_PATTERN).test(line.split(' ')[1] ?? ''))).toEqual([]);
    const page = readFileSync(join(__dirname, '../../docs/locking.md'), 'utf8');
    const lists = trackedListsOf(db);
    const forgetting = lists.flatMap(({ table, parent }) => (parent ? [`${parent.table} t90_forget_${table}`] : []));
    expect(page).toContain('`t90_forget_<list>`');
    const documented = [...page.matchAll(/^\| `(t\d\d_\w+)` +\| (.*?) +\|/gm)].flatMap(([, name, tables = '']) =>
      tables
        .split(', ')
        .flatMap((table) => (table === 'all lists' ? lists.map((list) => list.table) : table))
        .map((table) => `${table} ${name}`),
    );
    expect([...documented, ...forgetting].sort()).toEqual([...found].sort());
  });

  it('are applied again when their text has changed, and only then', async () => {
    const versions = () => db.query<unknown[]>(`select proname, xmin from pg_proc where proname = 'list_take'`);
    const before = await versions();
    await migrate(database.url);
    expect(await versions()).toEqual(before);
    await db.query(`update applied_functions set hash = 'another';
      create or replace function refuse() returns trigger language plpgsql as 'begin return new; end';
      create trigger t99_old before insert on leads for each row execute function refuse()`);
    await migrate(database.url);
    expect(sorted(written)).toEqual(sorted(await stored()));
    expect((await triggers()).join()).not.toContain('t99_old');
  });
});
