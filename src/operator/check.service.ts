import { DataSource } from 'typeorm';
import { derivedOf, type DerivedTable } from '../database/derived';
import { listsOf, type TrackedList } from '../database/lists';
import { OWN_TRIGGER } from '../database/functions';
import { CATALOGUE, lockOrganization } from '../database/locks';

interface Checked {
  checked: number;
  wrong: number;
  /** of triggers: which are switched off, as `table.trigger` */
  off?: string[];
}

/** A trigger that is switched off, by what SQL calls it and its table. */
interface Off {
  name: string;
  table: string;
}

const TRIGGERS = `
  select quote_ident(tgname) as name, tgrelid::regclass::text as table, tgenabled in ('O', 'A') as "isOn"
  from pg_trigger join pg_class c on c.oid = tgrelid
  where tgname ~ '${OWN_TRIGGER}' and not tgisinternal and relnamespace = current_schema()::regnamespace`;

/**
 * Triggers that are switched off. Lists whose stored counts are not what a full scan gives, and rows whose derived column is not what their fields give: the
 * documents of leads, the words of industry events.
 */
export type CheckResult = Record<string, Checked>;

/** The names of the lists of the table's rows. */
const nameOf = ({ table, parent }: TrackedList): string => `'${table}'${parent ? ` || '/' || ${parent.column}` : ''}`;
const ownerOf = ({ shared }: TrackedList): string => (shared ? '0' : 'organization_id');

/** What a full scan of the table counts. */
const scan = (list: TrackedList): string => `
  select ${ownerOf(list)} as organization_id, ${nameOf(list)} as list, shift::smallint, position >> shift as bucket,
    count(*)::integer as rows
  from ${list.table}, unnest('{40,14,8}'::integer[]) shift group by 1, 2, 3, 4`;

/** The lists of the table whose counts are wrong, or that would give a position again. */
const wrong = (list: TrackedList): string => `
  select organization_id, list from (
      (select * from list_counts where list ~ '^${list.table}(/|$)' except all ${scan(list)})
      union all (${scan(list)} except all select * from list_counts where list ~ '^${list.table}(/|$)')
    ) differing
  union
  select organization_id, list from (
      select ${ownerOf(list)} as organization_id, ${nameOf(list)} as list, max(position) as last from ${list.table} group by 1, 2
    ) used left join lists using (organization_id, list)
  where next_position is null or next_position <= last`;

/** Compares what the database stores beside the data, to answer faster, with the data. */
export class CheckService {
  constructor(private readonly dataSource: DataSource) {}

  /** @param repair whether what is wrong is made right */
  async check(repair: boolean): Promise<CheckResult> {
    const result: CheckResult = { triggers: await this.triggers(repair), lists: await this.lists(repair) };
    for (const derived of derivedOf(this.dataSource)) result[derived.name] = await this.derived(derived, repair);
    return Object.fromEntries(Object.entries(result).sort());
  }

  private async triggers(repair: boolean): Promise<Checked> {
    const found = await this.dataSource.query<(Off & { isOn: boolean })[]>(TRIGGERS);
    const off = found.filter(({ isOn }) => !isOn);
    if (repair && off.length > 0) await this.switchOn(off);
    return { checked: found.length, wrong: off.length, off: off.map(({ name, table }) => `${table}.${name}`) };
  }

  /** Who follows the feed of changes has missed some, and must read anew. */
  private async switchOn(off: Off[]): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      for (const { name, table } of off) await manager.query(`alter table ${table} enable trigger ${name}`);
      if (!off.some(({ name }) => name.startsWith('t60_'))) return;
      await manager.query('update changes_key set generation = generation + 1');
    });
  }

  /** The rows of a table whose column is not what its expression gives. */
  private async derived({ table, shared, column, expression }: DerivedTable, repair: boolean): Promise<Checked> {
    // The organization, or the catalogue, by whose lock a repair keeps imports out.
    const owner = shared ? String(CATALOGUE) : 'organization_id';
    const stale = `${column} is distinct from ${expression}`;
    const found = await this.dataSource.query<(Checked & { id: number })[]>(
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
        // A trigger derives it, whatever is set; where somebody switched that off, this must be right by itself.
        await manager.query(`update ${table} set ${column} = ${expression} where ${owner} = ${id} and ${stale}`);
      });
    }
    return result;
  }

  private async lists(repair: boolean): Promise<Checked> {
    const [result] = await this.dataSource.query<[Checked]>(
      'select count(*)::integer as checked, 0 as wrong from lists',
    );
    for (const list of listsOf(this.dataSource)) {
      const found = await this.dataSource.query<{ organization_id: number; list: string }[]>(wrong(list));
      result.wrong += found.length;
      for (const { organization_id: organization, list: name } of repair ? found : []) {
        await this.recount(list, organization, name);
      }
    }
    return result;
  }

  /** Locked meanwhile: nothing is added to the list, and its counts do not change. */
  private async recount(list: TrackedList, organization: number, name: string): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await lockOrganization(manager, organization);
      await manager.query(`lock table ${list.table}, list_counts in share row exclusive mode`);
      await manager.query('delete from list_counts where organization_id = $1 and list = $2', [organization, name]);
      await manager.query(
        `insert into list_counts select * from (${scan(list)}) s where organization_id = $1 and list = $2`,
        [organization, name],
      );
      await manager.query(
        `insert into lists as l select $1, $2, coalesce(max(position), -1) + 1 from ${list.table}
          where ${ownerOf(list)} = $1 and ${nameOf(list)} = $2
        on conflict (organization_id, list) do update
          set next_position = greatest(l.next_position, excluded.next_position)`,
        [organization, name],
      );
    });
  }
}
