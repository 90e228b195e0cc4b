import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { derivedOf } from './derived';
import type { SchemaDefinition } from './schema-definition';
import { listsOf } from '../database/tracked-list';

const read = (file: string): string => readFileSync(join(__dirname, 'functions', file), 'utf8');

/** Defaults and indexes of tables use these functions, so that they come before the migrations. */
export const VALUES = read('values.sql');

/** The name of each trigger of ours begins so; the number gives their order. */
export const OWN_TRIGGER = '^t[0-9]{2}_';

const FUNCTIONS = Symbol('functions');

/** An entity with functions and triggers of its own, which may stand on other tables. */
export const WithFunctions = (text: string): ClassDecorator => Reflect.metadata(FUNCTIONS, text);

const functionsOf = ({ entityMetadatas }: DataSource): string[] =>
  entityMetadatas.flatMap(
    ({ target }) => (Reflect.getMetadata(FUNCTIONS, target as object) as string | undefined) ?? [],
  );

/** Triggers that the texts no longer have must not go on firing. */
const DROP_TRIGGERS = `
  do $do$
  declare
    old record;
  begin
    for old in select tgname, tgrelid::regclass as of_table from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where tgname ~ '${OWN_TRIGGER}' and not tgisinternal and relnamespace = current_schema()::regnamespace
    loop
      execute format('drop trigger %I on %s', old.tgname, old.of_table);
    end loop;
  end $do$`;

/** The triggers of ours that the database has, as `table.trigger`. */
const TRIGGER_NAMES = `
  select array(
    select tgrelid::regclass::text || '.' || quote_ident(tgname) from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where tgname ~ '${OWN_TRIGGER}' and not tgisinternal and relnamespace = current_schema()::regnamespace order by 1)`;

/**
 * The functions and triggers of the database: those of lists stand in functions/, those of a derived column with its
 * entity, and nowhere else.
 */
export class Functions {
  readonly texts: string[];
  private readonly hash: string;

  constructor(
    private readonly dataSource: DataSource,
    { functions }: SchemaDefinition,
  ) {
    const derived = derivedOf(dataSource).map(({ functions }) => functions);
    const ofEntities = functionsOf(dataSource).sort();
    this.texts = [VALUES, read('lists.sql'), listTriggers(dataSource), ...derived, ...ofEntities, ...functions];
    this.hash = hash('sha256', this.texts.join('\n'));
  }

  /** What the migrations need; on a database that has them, nothing changes. */
  async applyEarly(): Promise<void> {
    if (!(await this.areApplied())) await this.dataSource.query(VALUES);
  }

  /**
   * All of them, in one transaction, unless the database has them.
   * @param lockTimeoutMs how long it waits for a table; by default as long as its session does
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
   * Has apply() apply all of them: a migration may remove triggers with the table that they stand on, and one that was
   * reverted and is applied again makes the table without them.
   */
  async forget(): Promise<void> {
    if (await this.areApplied()) await this.dataSource.query('delete from applied_functions');
  }

  /** The names of the functions. */
  private get names(): string[] {
    return this.texts.flatMap((text) =>
      [...text.matchAll(/^create or replace function (\w+)/gm)].map(([, name = '']) => name),
    );
  }

  private async areApplied(): Promise<boolean> {
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
  listsOf(dataSource)
    .map(({ table, parent, shared }) => [table, parent?.column ?? '', parent?.table ?? '', shared ? 'shared' : ''])
    .map((list) => `select list_track(${list.map((argument) => `'${argument}'`).join(', ')});`)
    .join('\n');
