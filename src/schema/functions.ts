import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { derivedColumnsOf } from './derived';
import type { SchemaDefinition } from './schema-definition';
import { trackedListsOf } from '../database/tracked-list';

const readSql = (file: string): string => readFileSync(join(__dirname, 'functions', file), 'utf8');

/** Functions of all contexts. Defaults of tables use them, so the migrations need them. */
export const VALUE_FUNCTIONS = readSql('values.sql');

/** The names of Lanyard's own triggers begin like this. The number gives their order. */
export const OWN_TRIGGER_PATTERN = '^t[0-9]{2}_';

const FUNCTIONS_METADATA_KEY = Symbol('functions');
const INDEX_FUNCTIONS_METADATA_KEY = Symbol('index functions');

/** Adds SQL functions and triggers to an entity. The triggers may be on other tables. */
export const WithFunctions = (text: string): ClassDecorator => Reflect.metadata(FUNCTIONS_METADATA_KEY, text);

/**
 * Adds SQL functions that indexes or column defaults of an entity use. They are applied before the migrations, which need them,
 * and therefore must not refer to any table.
 */
export const WithIndexFunctions = (text: string): ClassDecorator =>
  Reflect.metadata(INDEX_FUNCTIONS_METADATA_KEY, text);

/** The texts that entities have under a metadata key, in an order that does not depend on how the entities are found. */
const textsOf = ({ entityMetadatas }: DataSource, key: symbol): string[] =>
  entityMetadatas
    .flatMap(({ target }) => (Reflect.getMetadata(key, target as object) as string | undefined) ?? [])
    .sort();

/** The functions that the migrations of these entities need. Nothing changes on a database that has all functions. */
export const functionsBeforeMigrations = (dataSource: DataSource): string[] => [
  VALUE_FUNCTIONS,
  ...textsOf(dataSource, INDEX_FUNCTIONS_METADATA_KEY),
];

/** Triggers that the texts no longer contain must not keep firing. */
const DROP_TRIGGERS = `
  do $do$
  declare
    old record;
  begin
    for old in select tgname, tgrelid::regclass as of_table from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where tgname ~ '${OWN_TRIGGER_PATTERN}' and not tgisinternal and relnamespace = current_schema()::regnamespace
    loop
      execute format('drop trigger %I on %s', old.tgname, old.of_table);
    end loop;
  end $do$`;

/** The names of Lanyard's own triggers in the database, as `table.trigger`. */
const TRIGGER_NAMES = `
  select array(
    select tgrelid::regclass::text || '.' || quote_ident(tgname) from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where tgname ~ '${OWN_TRIGGER_PATTERN}' and not tgisinternal and relnamespace = current_schema()::regnamespace order by 1)`;

/** The functions and triggers of the database. Those of all contexts are in functions/, the others with their entity. */
export class SchemaFunctions {
  readonly texts: string[];
  private readonly hash: string;

  constructor(
    private readonly dataSource: DataSource,
    { functions }: SchemaDefinition,
  ) {
    const derived = derivedColumnsOf(dataSource).map(({ functions }) => functions);
    this.texts = [
      ...functionsBeforeMigrations(dataSource),
      readSql('lists.sql'),
      listTriggers(dataSource),
      ...derived,
      ...textsOf(dataSource, FUNCTIONS_METADATA_KEY),
      ...functions,
    ];
    this.hash = hash('sha256', this.texts.join('\n'));
  }

  /** Applies the functions that the migrations need. */
  async applyBeforeMigrations(): Promise<void> {
    if (await this.areApplied()) return;
    for (const text of functionsBeforeMigrations(this.dataSource)) await this.dataSource.query(text);
  }

  /**
   * Applies all of them in one transaction, unless the database already has them.
   * @param lockTimeoutMs how long to wait for a table; by default the session's own lock timeout
   */
  async apply(lockTimeoutMs?: number): Promise<void> {
    if (await this.areApplied()) return;
    await this.dataSource.transaction(async (manager) => {
      if (lockTimeoutMs !== undefined) await manager.query(`set local lock_timeout = ${lockTimeoutMs}`);
      await manager.query(DROP_TRIGGERS);
      for (const text of this.texts) await manager.query(text);
      await manager.query('delete from applied_functions');
      await manager.query(
        `insert into applied_functions (hash, functions, triggers) values ($1, $2, (${TRIGGER_NAMES}))`,
        [this.hash, this.names],
      );
    });
  }

  /**
   * Makes apply() apply all of them again. A migration may remove triggers together with their table, and one that is
   * reverted and applied again creates the table without them.
   */
  async markOutdated(): Promise<void> {
    if (await this.areApplied()) await this.dataSource.query('delete from applied_functions');
  }

  /** The names of the functions. */
  private get names(): string[] {
    return this.texts.flatMap((text) =>
      [...text.matchAll(/^create or replace function (\w+)/gm)].map(([, name = '']) => name),
    );
  }

  /** Whether the database has exactly these functions and triggers. */
  async areApplied(): Promise<boolean> {
    const [{ exists }] = await this.dataSource.query<[{ exists: boolean }]>(
      `select to_regclass('applied_functions') is not null as exists`,
    );
    if (!exists) return false;
    const [row] = await this.dataSource.query<{ hash: string }[]>('select hash from applied_functions');
    return row?.hash === this.hash;
  }
}

/** The triggers of all lists. */
const listTriggers = (dataSource: DataSource): string =>
  trackedListsOf(dataSource)
    .map(({ table, parent, isShared }) => [table, parent?.column ?? '', parent?.table ?? '', isShared ? 'shared' : ''])
    .map((list) => `select list_track(${list.map((argument) => `'${argument}'`).join(', ')});`)
    .join('\n');
