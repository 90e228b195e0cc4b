import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DataSource } from 'typeorm';
import { asOperator, testDatabase } from '../support/database';

/** What a module exports of SQL: a text, a statement, or the statements of a list. */
type Exported = string | { name: string; text: string; first?: string; shared?: boolean };
interface Sent {
  name: string;
  text: string;
  /** what `$1` is, where it is not the first of the values */
  owner?: string;
}

const ROOT = join(__dirname, '../..');
const LISTING = join(ROOT, 'docs/statements.sql');
const SQL = /^\s*(select|with|insert|update|delete)\b/;

const isSql = (value: unknown): value is Exported =>
  typeof value === 'string' ? SQL.test(value) : SQL.test(String((value as { text?: unknown } | null)?.text ?? ''));

function sentBy(file: string, exportName: string, exported: Exported): Sent[] {
  if (typeof exported === 'string') return [{ name: `${basename(file, '.ts')}.${exportName}`, text: exported }];
  const { name, text, first, shared } = exported;
  const owner = shared ? undefined : '$1 is the organization';
  if (!('values' in exported)) return [{ name, text, owner }];
  const pages = [{ name: `${name} page`, text, owner }];
  return first ? [{ name: `${name} first page`, text: first, owner }, ...pages] : pages;
}

/** Every statement that services send, as modules export it: a new one is listed by itself. */
const statements = (): Sent[] =>
  readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /(\.sql|\.service|database\/[\w-]+)\.ts$/.test(file))
    .sort()
    .flatMap((file) =>
      Object.entries(jest.requireActual<Record<string, unknown>>(join(ROOT, 'src', file))).flatMap(([name, value]) =>
        isSql(value) ? sentBy(file, name, value) : [],
      ),
    );

/** Without the indentation that all lines share. */
function outdented(text: string): string {
  const lines = text.replace(/^\n+|\s+$/g, '').split('\n');
  const indents = lines.filter((line) => line.trim()).map((line) => line.search(/\S/));
  return lines.map((line) => line.slice(Math.min(...indents)).trimEnd()).join('\n');
}

describe('the listing of statements', () => {
  let db: DataSource;
  beforeAll(async () => void (db = await asOperator((await testDatabase()).url, 1)));

  it('is checked in as they are sent, and PostgreSQL takes each of them (npm run sql writes it)', async () => {
    const listed: string[] = [];
    for (const { name, text, owner } of statements()) {
      await db.query(`prepare listed as ${text}`);
      const [{ types }] = await db.query<[{ types: string[] }]>(
        `select parameter_types::text[] as types from pg_prepared_statements where name = 'listed'`,
      );
      await db.query('deallocate listed');
      const parameters = types.map((type, n) => `$${n + 1} ${type}`).join(', ');
      listed.push(`-- ${name}: ${parameters}${owner ? ` (${owner})` : ''}\n${outdented(text)};\n`);
    }
    const page = `-- Every prepared statement as it is sent. npm run sql writes this file.\n\n${listed.join('\n')}`;
    if (process.env.SQL_WRITE) writeFileSync(LISTING, page);
    expect(readFileSync(LISTING, 'utf8')).toBe(page);
  });
});
