import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { deleteOrphans, deriveAnew, derivedColumnsOf, type DerivedTable, isStale, withDerivedColumn } from './derived';
import { trackedListsOf, type TrackedList } from '../database/tracked-list';
import { FROM_OWN_TRIGGERS, TRIGGER_NAME } from './functions';
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

/** SQL of the names for which a condition holds. */
const namesWhere = (condition: string): string =>
  `coalesce(array_agg(name order by name) filter (where ${condition}), '{}')`;

/** The functions that were applied, and those of them that were dropped. */
const CHECK_FUNCTIONS = `
  select count(*)::integer as checked, count(*) filter (where is_missing)::integer as wrong,
    ${namesWhere('is_missing')} as missing
  from (
    select name, name not in (
      select proname from pg_proc where pronamespace = current_schema()::regnamespace) as is_missing
    from applied_functions, unnest(functions) name
  ) applied`;

/** The triggers that were applied or are there, and those of them that were dropped or disabled. */
const CHECK_TRIGGERS = `
  select count(*)::integer as checked, count(*) filter (where is_on is not true)::integer as wrong,
    ${namesWhere('not is_on')} as disabled, ${namesWhere('is_on is null')} as missing
  from (select unnest(triggers) as name from applied_functions) applied
    full join (select ${TRIGGER_NAME} as name, tgenabled in ('O', 'A') as is_on ${FROM_OWN_TRIGGERS}) own using (name)`;

/**
 * The result of a check, by part: `functions` and `triggers` that were dropped or disabled, `lists` whose stored counts
 * differ from a full scan, and rows whose derived column differs from its fields, such as the `documents` of leads.
 */
export type CheckResult = Record<string, PartResult>;

/** SQL for the name of the list that a row belongs to. */
const listNameSql = ({ table, parent }: TrackedList): string =>
  `'${table}'${parent ? ` || '/' || ${parent.column}` : ''}`;
const ownerSql = ({ isShared }: Pick<TrackedList, 'isShared'>): string =>
  isShared ? String(CATALOG) : 'organization_id';

/** SQL that counts the rows of each list by a full scan of the table. */
const countRowsSql = (list: TrackedList): string => `
  select ${ownerSql(list)} as organization_id, ${listNameSql(list)} as list, shift::smallint, position >> shift as bucket,
    count(*)::integer as rows
  from ${list.table}, unnest('{40,14,8}'::integer[]) shift group by 1, 2, 3, 4`;

/** SQL for the lists of the table whose counts are wrong, or whose next position is taken already. */
const wrongListsSql = (list: TrackedList): string => `
  select organization_id, list
  from (select * from list_counts where list ~ '^${list.table}(/|$)') stored
    full join (${countRowsSql(list)}) counted using (organization_id, list, shift, bucket)
  where stored.rows is distinct from counted.rows
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
    const [functions] = await this.dataSource.query<[PartResult]>(CHECK_FUNCTIONS);
    const [triggers] = await this.dataSource.query<[PartResult]>(CHECK_TRIGGERS);
    if (repair && functions.wrong + triggers.wrong > 0) await this.repairTriggers(triggers);
    return { functions, triggers };
  }

  /** Clients of the change feed have missed changes and must read a snapshot, so the feed is reset. */
  private async repairTriggers({ disabled = [], missing = [] }: PartResult): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await reapplyFunctions(this.dataSource, this.schema);
      if (![...disabled, ...missing].some((name) => name.includes('.t60_change'))) return;
      await manager.query('update changes_key set generation = generation + 1');
    });
  }

  /** Finds the rows of a table whose derived column differs from its expression. */
  private async checkDerived(derived: DerivedTable, repair: boolean): Promise<PartResult> {
    // The lock of the organization, or of the catalog, keeps imports out during a repair.
    const owner = ownerSql(derived);
    const found = await this.dataSource.query<(PartResult & { id: number })[]>(
      `select ${owner} as id, count(*)::integer as checked, (count(*) filter (where ${isStale(derived)}))::integer as wrong
        from ${withDerivedColumn(derived)} group by 1 order by 1`,
    );
    for (const { id } of repair ? found.filter(({ wrong }) => wrong > 0) : []) {
      await this.dataSource.transaction(async (manager) => {
        await lockOrganization(manager, id);
        // A trigger derives the column, whatever is set. If the trigger is disabled, the new value must be right by itself.
        const isOwned = `${owner} = ${id}`;
        await manager.query(deriveAnew(derived, isOwned));
        const orphans = deleteOrphans(derived, isOwned);
        if (orphans) await manager.query(orphans);
      });
    }
    const total = (key: 'checked' | 'wrong'): number => found.reduce((sum, each) => sum + each[key], 0);
    return { checked: total('checked'), wrong: total('wrong') };
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
