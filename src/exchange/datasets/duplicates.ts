import type { EntityManager } from 'typeorm';
import type { ImportPlan } from './import-plan';
import { READ_ONLY_COLUMN, type Table } from './tables';

/** The temporary table that says which row each repeated row becomes part of. */
const REPEATED = 'repeated_rows';

/**
 * Makes one of the staged rows that are the same record, as the operator has said.
 * @returns how many rows were dropped or merged into others
 */
export async function resolveDuplicates(
  manager: EntityManager,
  main: Table,
  { match, onDuplicate }: ImportPlan,
): Promise<number> {
  if (!onDuplicate) return 0;
  const key = match?.key('s') ?? `s.${main.key}`;
  const direction = onDuplicate === 'last' ? 'desc' : 'asc';
  await manager.query(`drop table if exists ${REPEATED}`);
  await manager.query(
    `create temporary table ${REPEATED} as select * from (
        select s.record_index, first_value(s.record_index) over w as kept_index
        from ${main.stage} s where ${key} is not null
        window w as (partition by ${key} order by s.record_index ${direction})
      ) r where record_index <> kept_index`,
  );
  const [row] = await manager.query<{ count: number }[]>(`select count(*)::integer as count from ${REPEATED}`);
  if (!row || row.count === 0) return 0;
  if (onDuplicate === 'merge') {
    for (const statement of [mergeRows(main), ...main.lists.flatMap((list) => moveEntries(list, main))]) {
      await manager.query(statement);
    }
  }
  for (const { stage } of [main, ...main.lists]) {
    await manager.query(`delete from ${stage} where record_index in (select record_index from ${REPEATED})`);
  }
  return row.count;
}

/** Gives the first of several rows what the others have and it lacks. */
function mergeRows({ stage, staged, key, dataset }: Table): string {
  const columns = staged.filter(({ name }) => name !== key && name !== READ_ONLY_COLUMN);
  // Whole rows make an array even if lists in them have different lengths.
  const values = columns.map(({ name, type }) => {
    const value = type.endsWith('[]') ? 's' : `s.${name}`;
    return `array_agg(${value} order by s.record_index) filter (where s.${name} is not null) as ${name}`;
  });
  const assignments = columns.map(({ name, path, type }) => {
    const first = type.endsWith('[]') ? `(m.${name}[1]).${name}` : `m.${name}[1]`;
    return `${name} = (${dataset.mergedValues?.[path]?.(`m.${name}`, 'm.row_count') ?? first})`;
  });
  return `
    update ${stage} k set ${assignments.join(', ')} from (
      select g.kept_index, count(*) as row_count, ${values.join(', ')}
      from (select record_index, kept_index from ${REPEATED}
        union all select distinct kept_index, kept_index from ${REPEATED}) g
      join ${stage} s on s.record_index = g.record_index
      group by g.kept_index
    ) m where k.record_index = m.kept_index`;
}

/** Moves the entries of the rows that are dropped to the row that stays, and removes entries that it then has twice. */
function moveEntries({ stage, owner, match }: Table, main: Table): string[] {
  return [
    `update ${stage} l set record_index = r.kept_index, ${owner?.name} = k.${main.key}, entry_index = l.entry_index + 1000000
      from ${REPEATED} r join ${main.stage} k on k.record_index = r.kept_index where l.record_index = r.record_index`,
    `delete from ${stage} l using (
        select ctid, row_number() over (partition by ${match.join(', ')} order by entry_index) as nth from ${stage}
      ) d where d.ctid = l.ctid and d.nth > 1`,
  ];
}
