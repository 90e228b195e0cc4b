import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import { isWrite, withActor } from '../../../src/data/database/actor';
import { toComment, formatSql } from './sql-layout';

/** SQL that a module exports: a text, a statement, or the statements of a list. */
type Exported = string | { name?: string; text: string; firstPageText?: string; isShared?: boolean };

/** How the statement of a first page is named. */
const FIRST_PAGE = 'first page';

interface Sent {
  name: string;
  text: string;
  /** The text as the context has it. */
  source: string;
  /** What `$1` is, where it is not the first of the values. */
  owner?: string;
}

const SOURCE = join(__dirname, '../../../src');
const SQL = /^\s*(select|with|insert|update|delete)\b/;

/** The files of src, in the order of their paths. A program would run when it is loaded, and the index has what others have. */
const files = (ending: string): string[] =>
  readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending) && !file.endsWith('main.ts') && file !== 'index.ts')
    .sort();

/** The folder of `src/` in which a file stands, and its group. */
const contextOf = (file: string): string => file.split(sep).slice(0, -1).slice(0, 2).join('/');

const exportsOf = (file: string): [string, unknown][] =>
  Object.entries(jest.requireActual<Record<string, unknown>>(join(SOURCE, file)));

const isSql = (value: unknown): value is Exported =>
  typeof value === 'string' ? SQL.test(value) : SQL.test(String((value as { text?: unknown } | null)?.text ?? ''));

/** The SQL of an export: itself, or that of an array or a map. */
function sqlIn(value: unknown): Exported[] {
  if (Array.isArray(value)) return value.filter(isSql);
  if (value instanceof Map) return [...value.values()].filter(isSql);
  return isSql(value) ? [value] : [];
}

function sentBy(context: string, exportName: string, exported: Exported): Sent[] {
  if (typeof exported === 'string') return [{ name: `${context} ${exportName}`, text: exported, source: exported }];
  const { name = exportName, text: source, firstPageText, isShared } = exported;
  const statement = { name, text: source };
  const { text } = isWrite(statement) ? withActor(statement) : statement;
  const owner = isShared ? undefined : '$1 is the organization';
  if (!('valueCount' in exported)) return [{ name, text, source, owner }];
  const page = { name: `${name} page`, text, source, owner };
  // What finds the start of any other page is left out of that of the first one.
  return firstPageText ? [page, { ...page, name: `${name} ${FIRST_PAGE}`, text: firstPageText }] : [page];
}

/** Parts of statements are exported as texts, too, but from no file of this kind. */
const HAS_TEXTS = /(\.sql|\.service|^data[\\/]database[\\/][\w-]+)\.ts$/;

/** Every statement that services send, as modules export it: a new one is listed by itself. */
function statementsIn(file: string): Sent[] {
  return exportsOf(file).flatMap(([exportName, value]) =>
    sqlIn(value)
      .filter((exported) => typeof exported !== 'string' || HAS_TEXTS.test(file))
      .flatMap((exported) => sentBy(basename(contextOf(file)), exportName, exported)),
  );
}

/** A statement with the types of its parameters. @throws when PostgreSQL does not accept it as it is listed */
async function prepareStatement(db: DataSource, { name, text, owner }: Sent): Promise<string> {
  const listed = formatSql(`${text.trimEnd()};`);
  await db.query(`prepare listed as ${listed}`);
  const [{ types }] = await db.query<[{ types: string[] }]>(
    `select parameter_types::text[] as types from pg_prepared_statements where name = 'listed'`,
  );
  await db.query('deallocate listed');
  const parameters = types.map((type, index) => `$${index + 1} ${type}`).join(', ');
  const title = [name, parameters].filter(Boolean).join(': ');
  return `${toComment(owner ? `${title} (${owner})` : title)}\n${listed}`;
}

/** Functions with a table whose trigger calls them. docs/locking.md lists the triggers. */
const FUNCTIONS = `
  select proname as name, prosrc as body, pg_get_functiondef(p.oid) as definition,
    (select min(tgrelid::regclass::text) from pg_trigger where tgfoid = p.oid) as "calledBy"
  from pg_proc p
  where pronamespace = current_schema()::regnamespace
    and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
  order by proname, pg_get_function_identity_arguments(p.oid)`;

/** Definitions by the context that they belong to. */
class Definitions {
  private readonly sections = new Map<string, string[]>();

  add(context: string, definition: string): void {
    this.sections.set(context, [...(this.sections.get(context) ?? []), definition]);
  }

  of(context: string): string[] {
    return this.sections.get(context) ?? [];
  }

  get contexts(): string[] {
    return [...this.sections.keys()];
  }
}

/** The context of each table. */
function tablesOf(db: DataSource): Map<string, string> {
  const entities = files('.entity.ts').flatMap((file) => exportsOf(file).map(([, value]) => [value, file] as const));
  const fileByEntity = new Map<unknown, string>(entities);
  return new Map(
    db.entityMetadatas.map(({ tableName, target }) => [
      tableName,
      contextOf(fileByEntity.get(target) ?? 'data/schema'),
    ]),
  );
}

/** The statements that providers made when they were created, which are properties of theirs. */
function statementsOfProviders(app: INestApplication): [context: string, sent: Sent][] {
  const sources = new Map<unknown, string>(
    files('.ts').flatMap((file) => exportsOf(file).map(([, value]) => [value, file] as const)),
  );
  const providers = [...app.get(ModulesContainer).values()].flatMap((module) => [...module.providers.values()]);
  return providers.flatMap(({ instance }) => {
    const file = sources.get((instance as object | null)?.constructor);
    if (file === undefined) return [];
    const properties = Object.entries(instance as object);
    return properties.flatMap(([name, value]) =>
      sqlIn(value)
        .filter((sql) => typeof sql !== 'string' && sql.name !== undefined)
        .flatMap((sql) =>
          sentBy(basename(contextOf(file)), name, sql).map((sent): [string, Sent] => [contextOf(file), sent]),
        ),
    );
  });
}

/** Every text of src, with single blanks, and its lines. */
const SOURCES = files('')
  .filter((file) => /\.(ts|sql)$/.test(file))
  .map((file) => readFileSync(join(SOURCE, file), 'utf8'))
  .map((text) => ({ text: withSingleBlanks(text), lines: new Set(linesOf(text)) }));

function withSingleBlanks(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim().replace(/`[;,)]*$/, ''))
    .filter((line) => line !== '');
}

/** Whether a text is more than what one file of src has, but for a line. The listing has only what is composed. */
export function isComposed(sql: string): boolean {
  const [text, lines] = [withSingleBlanks(sql), linesOf(formatSql(sql))];
  return !SOURCES.some(
    (source) => source.text.includes(text) || lines.filter((line) => !source.lines.has(line)).length <= 1,
  );
}

/** A text that differs from another one in its numbers only is listed once. */
export const shapeOf = (sql: string): string => sql.replace(/\d+/g, '0');

async function statementsOf(db: DataSource, app: INestApplication): Promise<Definitions> {
  const exported = files('.ts').flatMap((file) =>
    statementsIn(file).map((sent): [string, Sent] => [contextOf(file), sent]),
  );
  const statements = new Definitions();
  const listed = new Set<string>();
  for (const [context, sent] of [...exported, ...statementsOfProviders(app)]) {
    if (listed.has(sent.name)) continue;
    const prepared = await prepareStatement(db, sent);
    const isKnown = listed.has(shapeOf(sent.text)) || sent.name.endsWith(FIRST_PAGE);
    listed.add(sent.name).add(shapeOf(sent.text));
    if (!isKnown && isComposed(sent.source)) statements.add(context, prepared);
  }
  return statements;
}

/** The functions of the database. One that is written for several tables belongs to the context of each of them. */
async function functionsOf(db: DataSource): Promise<Definitions> {
  const functions = new Definitions();
  const tables = tablesOf(db);
  const sources = files('').filter((file) => /\.(ts|sql)$/.test(file));
  const texts = sources.map((file) => [contextOf(file), readFileSync(join(SOURCE, file), 'utf8')] as const);
  const rows = await db.query<Record<'name' | 'body' | 'definition' | 'calledBy', string>[]>(FUNCTIONS);
  for (const { name, definition, calledBy } of rows.filter(({ body }) => isComposed(body))) {
    const written = texts.find(([, text]) => text.includes(`create or replace function ${name}(`));
    functions.add(written?.[0] ?? tables.get(calledBy) ?? 'data/schema', formatSql(`${definition.trimEnd()};`));
  }
  return functions;
}

/** The listing of all composed SQL: the text of a file for each folder of src that has some. */
export async function sqlListing(db: DataSource, app: INestApplication): Promise<Map<string, string>> {
  const statements = await statementsOf(db, app);
  const functions = await functionsOf(db);
  const contexts = new Set([...statements.contexts, ...functions.contexts]);
  return new Map(
    [...contexts].sort().map((context) => {
      const title = `-- The SQL that src/${context} composes, as PostgreSQL gets it. npm run sql writes this file.`;
      const parts = [
        ['-- Prepared statements', ...statements.of(context)],
        ['-- Functions', ...functions.of(context)],
      ];
      const filled = parts.filter(({ length }) => length > 1);
      return [`${basename(context)}.sql`, `${[title, ...filled.flat()].join('\n\n')}\n`];
    }),
  );
}
