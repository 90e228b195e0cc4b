import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { decoratedEntities } from '../database/decorated-entities';
import { derivedColumnsOf } from './derived';
import type { SchemaDefinition } from './schema-definition';
import { trackedListsOf } from '../database/tracked-list';

const readSql = (file: string): string => readFileSync(join(__dirname, 'functions', file), 'utf8');

/** Functions of all contexts. Defaults of tables use them, so the migrations need them. */
export const VALUE_FUNCTIONS = readSql('values.sql');

/**
 * How long a change of the schema waits for a table while all requests for it queue behind. It must be shorter than the
 * statement timeout.
 */
export const TABLE_LOCK_TIMEOUT_MS = 1000;

/** The names of Lanyard's own triggers begin like this. The number gives their order. */
export const OWN_TRIGGER_PATTERN = '^t[0-9]{2}_';

/** The part of a select that follows its columns, for Lanyard's own triggers. */
export const FROM_OWN_TRIGGERS = `from pg_trigger join pg_class on pg_class.oid = tgrelid
  where tgname ~ '${OWN_TRIGGER_PATTERN}' and not tgisinternal and relnamespace = current_schema()::regnamespace`;

/** SQL of the name of a trigger, as `table.trigger`. */
export const TRIGGER_NAME = `tgrelid::regclass::text || '.' || quote_ident(tgname)`;

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

/**
 * Triggers that call a function for what is changed in a table. Inserts and deletes call it once for each statement, because
 * they may be many rows; updates for each row, under a condition.
 */
export const changeTriggers = (name: string, table: string, isChanged: string, called: string): string => `
create trigger ${name}_inserted after insert on ${table} referencing new table as changed
  for each statement execute function ${called}();
create trigger ${name}_deleted after delete on ${table} referencing old table as changed
  for each statement execute function ${called}();
create trigger ${name}_updated after update on ${table} for each row
  when (${isChanged}) execute function ${called}();
`;

/** The texts that entities have under a metadata key, in an order that does not depend on how the entities are found. */
const textsOf = (dataSource: DataSource, key: symbol): string[] =>
  decoratedEntities<string>(dataSource, key)
    .map(({ value }) => value)
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
    for old in select tgname, tgrelid::regclass as of_table ${FROM_OWN_TRIGGERS}
    loop
      execute format('drop trigger %I on %s', old.tgname, old.of_table);
    end loop;
  end $do$`;

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

  /** Applies all of them in one transaction, unless the database already has them. */
  async apply(): Promise<void> {
    if (await this.areApplied()) return;
    await this.dataSource.transaction(async (manager) => {
      await manager.query(`set local lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}`);
      await manager.query(DROP_TRIGGERS);
      for (const text of this.texts) await manager.query(text);
      await manager.query('delete from applied_functions');
      await manager.query(
        `insert into applied_functions (hash, functions, triggers)
          select $1, $2, array(select ${TRIGGER_NAME} ${FROM_OWN_TRIGGERS} order by 1)`,
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
