import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { derivedColumnsOf, type DerivedTable } from './derived';
import { trackedListsOf, type TrackedList } from '../database/tracked-list';
import { OWN_TRIGGER_PATTERN } from './functions';
import { reapplyFunctions } from './migrate';
import { SchemaDefinition } from './schema-definition';
import { CATALOG, lockOrganization } from '../database/locks';

interface PartResult {
  checked: number;
  wrong: number;
  /** Disabled triggers as `table.trigger`, if the part is about triggers. */
  disabled?: string[];
  /** Functions, or triggers as `table.trigger`, that were dropped. */
  missing?: string[];
}

/** A disabled trigger. Both names are quoted for SQL. */
interface DisabledTrigger {
  name: string;
  table: string;
}

const SELECT_TRIGGERS = `
  select quote_ident(tgname) as name, tgrelid::regclass::text as table, tgenabled in ('O', 'A') as "isOn"
  from pg_trigger join pg_class c on c.oid = tgrelid
  where tgname ~ '${OWN_TRIGGER_PATTERN}' and not tgisinternal and relnamespace = current_schema()::regnamespace`;

const SELECT_MISSING_TRIGGERS = `
  select coalesce(array_agg(name order by name), '{}') as missing from applied_functions, unnest(triggers) name
  where name not in (
    select tgrelid::regclass::text || '.' || quote_ident(tgname)
    from pg_trigger join pg_class c on c.oid = tgrelid where relnamespace = current_schema()::regnamespace)`;

const SELECT_MISSING_FUNCTIONS = `
  select coalesce(array_agg(name order by name), '{}') as missing from applied_functions, unnest(functions) name
  where name not in (select proname from pg_proc where pronamespace = current_schema()::regnamespace)`;

/**
 * The result of a check, by part: `functions` and `triggers` that were dropped or disabled, `lists` whose stored counts
 * differ from a full scan, and rows whose derived column differs from its fields, such as the `documents` of leads.
 */
export type CheckResult = Record<string, PartResult>;

/** SQL for the name of the list that a row belongs to. */
const listNameSql = ({ table, parent }: TrackedList): string =>
  `'${table}'${parent ? ` || '/' || ${parent.column}` : ''}`;
const ownerSql = ({ isShared }: TrackedList): string => (isShared ? '0' : 'organization_id');

/** SQL that counts the rows of each list by a full scan of the table. */
const countRowsSql = (list: TrackedList): string => `
  select ${ownerSql(list)} as organization_id, ${listNameSql(list)} as list, shift::smallint, position >> shift as bucket,
    count(*)::integer as rows
  from ${list.table}, unnest('{40,14,8}'::integer[]) shift group by 1, 2, 3, 4`;

/** SQL for the lists of the table whose counts are wrong, or whose next position is taken already. */
const wrongListsSql = (list: TrackedList): string => `
  select organization_id, list from (
      (select * from list_counts where list ~ '^${list.table}(/|$)' except all ${countRowsSql(list)})
      union all (${countRowsSql(list)} except all select * from list_counts where list ~ '^${list.table}(/|$)')
    ) differing
  union
  select organization_id, list from (
      select ${ownerSql(list)} as organization_id, ${listNameSql(list)} as list, max(position) as last from ${list.table} group by 1, 2
    ) used left join lists using (organization_id, list)
  where next_position is null or next_position <= last`;

/** Compares derived data, which the database stores to respond faster, with the data that it is derived from. */
@Injectable()
export class CheckService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly schema: SchemaDefinition,
  ) {}

  /** @param repair whether to repair what is wrong */
  async check(repair: boolean): Promise<CheckResult> {
    // Functions and triggers come first, because repairing the data needs them.
    const result: CheckResult = await this.checkFunctionsAndTriggers(repair);
    result.lists = await this.checkLists(repair);
    for (const derived of derivedColumnsOf(this.dataSource))
      result[derived.name] = await this.checkDerived(derived, repair);
    return Object.fromEntries(Object.entries(result).sort());
  }

  private async checkFunctionsAndTriggers(repair: boolean): Promise<CheckResult> {
    const [{ count }] = await this.dataSource.query<[{ count: number }]>(
      'select coalesce(sum(cardinality(functions)), 0)::integer as count from applied_functions',
    );
    const functions = await this.missing(SELECT_MISSING_FUNCTIONS);
    const triggers = await this.missing(SELECT_MISSING_TRIGGERS);
    const found = await this.dataSource.query<(DisabledTrigger & { isOn: boolean })[]>(SELECT_TRIGGERS);
    const off = found.filter(({ isOn }) => !isOn);
    if (repair) await this.repairTriggers(off, functions, triggers);
    return {
      functions: { checked: count, wrong: functions.length, missing: functions },
      triggers: {
        checked: found.length + triggers.length,
        wrong: off.length + triggers.length,
        disabled: off.map(({ name, table }) => `${table}.${name}`),
        missing: triggers,
      },
    };
  }

  private async missing(sql: string): Promise<string[]> {
    const [{ missing }] = await this.dataSource.query<[{ missing: string[] }]>(sql);
    return missing;
  }

  /** Clients of the change feed have missed changes and must read a snapshot, so the feed is reset. */
  private async repairTriggers(off: DisabledTrigger[], functions: string[], missing: string[]): Promise<void> {
    if (off.length + functions.length + missing.length === 0) return;
    if (functions.length + missing.length > 0) await reapplyFunctions(this.dataSource, this.schema);
    await this.dataSource.transaction(async (manager) => {
      for (const { name, table } of off) await manager.query(`alter table ${table} enable trigger ${name}`);
      const names = [...off.map(({ name }) => name), ...missing.map((name) => name.split('.').at(-1) ?? '')];
      if (!names.some((name) => name.startsWith('t60_change'))) return;
      await manager.query('update changes_key set generation = generation + 1');
    });
  }

  /** Finds the rows of a table whose derived column differs from its expression. */
  private async checkDerived(
    { table, isShared, column, expression }: DerivedTable,
    repair: boolean,
  ): Promise<PartResult> {
    // The organization, or the catalog, whose lock keeps imports out during a repair.
    const owner = isShared ? String(CATALOG) : 'organization_id';
    const stale = `${column} is distinct from ${expression}`;
    const found = await this.dataSource.query<(PartResult & { id: number })[]>(
      `select ${owner} as id, count(*)::integer as checked, (count(*) filter (where ${stale}))::integer as wrong
        from ${table} group by 1 order by 1`,
    );
    const result = { checked: 0, wrong: 0 };
    for (const { id, checked, wrong } of found) {
      result.checked += checked;
      result.wrong += wrong;
      if (!repair || wrong === 0) continue;
      await this.dataSource.transaction(async (manager) => {
        await lockOrganization(manager, id);
        // A trigger derives the column, whatever is set. If the trigger is disabled, the new value must be right by itself.
        await manager.query(`update ${table} set ${column} = ${expression} where ${owner} = ${id} and ${stale}`);
      });
    }
    return result;
  }

  private async checkLists(repair: boolean): Promise<PartResult> {
    const [result] = await this.dataSource.query<[PartResult]>(
      'select count(*)::integer as checked, 0 as wrong from lists',
    );
    for (const list of trackedListsOf(this.dataSource)) {
      const found = await this.dataSource.query<{ organization_id: number; list: string }[]>(wrongListsSql(list));
      result.wrong += found.length;
      for (const { organization_id: organization, list: name } of repair ? found : []) {
        await this.recount(list, organization, name);
      }
    }
    return result;
  }

  /** Counts the rows of a list again. The locks keep the list and its counts unchanged meanwhile. */
  private async recount(list: TrackedList, organization: number, name: string): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await lockOrganization(manager, organization);
      await manager.query(`lock table ${list.table}, list_counts in share row exclusive mode`);
      await manager.query('delete from list_counts where organization_id = $1 and list = $2', [organization, name]);
      await manager.query(
        `insert into list_counts select * from (${countRowsSql(list)}) s where organization_id = $1 and list = $2`,
        [organization, name],
      );
      await manager.query(
        `insert into lists as l select $1, $2, coalesce(max(position), -1) + 1 from ${list.table}
          where ${ownerSql(list)} = $1 and ${listNameSql(list)} = $2
        on conflict (organization_id, list) do update
          set next_position = greatest(l.next_position, excluded.next_position)`,
        [organization, name],
      );
    });
  }
}
