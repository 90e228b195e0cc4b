import type { EntityManager } from 'typeorm';
import { ImportFault } from './import-fault';
import type { Given, Place } from './moves';
import type { Column, Table } from './tables';

/** What is wrong with a column of rows. */
interface Check {
  /** these rows `s`, as it stands after `from` */
  rows: string;
  column: Column;
  reason: string;
}

/**
 * Checks the staged rows of an organization against each other and against what is stored.
 * @throws ImportFault naming the first record at fault, of the first section that has one
 */
export async function check(
  manager: EntityManager,
  organizationId: number,
  tables: Table[],
  given: Given,
): Promise<void> {
  for (const section of new Set(tables.map((table) => table.section))) {
    let first: (Place & { fault: string }) | undefined;
    for (const table of tables.filter((each) => each.section === section)) {
      for (const { rows, column, reason } of checksOf(table, tables, given)) {
        const [found] = await manager.query<{ line: number | null; place: number; nth: number | null }[]>(
          `select s.line, s.place, s.nth from ${rows} order by s.place, s.nth limit 1`,
          rows.includes('$1') ? [organizationId] : [],
        );
        if (!found || (first && first.place <= found.place)) continue;
        const at = { section, place: found.place, line: found.line };
        first = { ...at, fault: `${given.nameOf(at, pathIn(table, column, found.nth))}: ${reason}` };
      }
    }
    if (first) throw new ImportFault(first.fault);
  }
}

/** Where the column of a row stands in its record. */
const pathIn = ({ list, isOfTexts }: Table, { path }: Column, nth: number | null): string =>
  list ? `${list.name}[${nth}]${isOfTexts ? '' : `.${path}`}` : path;

function checksOf(table: Table, tables: Table[], given: Given): Check[] {
  const { columns, dataset, match, owner } = table;
  const named = (name?: string): Column[] => columns.filter((column) => column.name === name);
  return [
    // Within an array, the record's own check has found them.
    ...(match.length > 1 ? [] : named(match[0]).map((column) => repeated(table, column))),
    ...(table.isShared ? [] : named('id').map((column) => foreign(table, column))),
    ...(given.isPart ? missing(table) : []),
    ...columns.flatMap((column) => (column === owner ? [] : unknown(table, column, tables))),
    ...(dataset.shared?.checks ?? []).flatMap(({ column: name, ...check }) =>
      named(name).map((column) => ({ ...check, column })),
    ),
  ];
}

const repeated = ({ stage }: Table, column: Column): Check => ({
  column,
  rows: `(
      select *, row_number() over (partition by ${column.name} order by place, nth) as time from ${stage}
      where ${column.name} in (select ${column.name} from ${stage} group by ${column.name} having count(*) > 1)
    ) s where time > 1`,
  reason: 'is in the file twice',
});

const foreign = ({ stage, name }: Table, column: Column): Check => ({
  column,
  rows: `${stage} s join ${name} t on t.id = s.id where t.organization_id <> $1`,
  reason: 'belongs to another organization',
});

/** Of a file that has a part of the fields, new rows may lack what they need. */
const missing = ({ stage, name, match, columns, list, isShared }: Table): Check[] =>
  (list ? [] : columns.filter(({ isRequired }) => isRequired)).map((column) => ({
    column,
    rows: `${stage} s where s.${column.name} is null and not exists (
        select from ${name} t where ${isShared ? '' : 't.organization_id = $1 and '}t.${match[0]} = s.${match[0]}
      )`,
    reason: 'missing or invalid',
  }));

function unknown({ stage }: Table, column: Column, tables: Table[]): Check[] {
  if (!column.target) return [];
  const { table: name, key } = column.target;
  const target = tables.find((other) => other.name === name);
  const isStaged = target ? `and not exists (select from ${target.stage} g where g.${key} = s.${column.name})` : '';
  // Entries that the file takes from their record are no more.
  const { name: of, target: main } = target?.owner ?? {};
  const stays = main ? `and not exists (select from staged_${main.table} o where o.${main.key} = t.${of})` : '';
  const rows = `${stage} s where s.${column.name} is not null ${isStaged} and not exists (
      select from ${name} t where t.organization_id = $1 and t.${key} = s.${column.name} ${stays}
    )`;
  // `tag_options` has tag options
  return [{ column, rows, reason: `unknown ${name.replace(/s$/, '').replaceAll('_', ' ')}` }];
}
