import type { EntityManager } from 'typeorm';
import { ImportFault } from './import-fault';
import type { Given } from './moves';
import type { Column, Table } from './tables';

interface Place {
  line: number | null;
  place: number;
  nth: number | null;
}

/** A select of the places of rows `s` at fault, the first one first, and what is wrong with them. */
interface Check {
  sql: string;
  fault: (place: Place) => string;
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
    const checks = tables
      .filter((table) => table.section === section)
      .flatMap((table) => checksOf(table, tables, given));
    let first: (Place & { fault: string }) | undefined;
    for (const { sql, fault } of checks) {
      const [place] = await manager.query<Place[]>(sql, sql.includes('$1') ? [organizationId] : []);
      if (place && (!first || place.place < first.place)) first = { ...place, fault: fault(place) };
    }
    if (first) throw new ImportFault(`${placeOf(section, first)}${first.fault}`);
  }
}

export const placeOf = (section: string, { line, place }: { line?: number | null; place: number }): string =>
  `${line ? `line ${line}: ` : ''}${section}[${place}]`;

function checksOf(table: Table, tables: Table[], given: Given): Check[] {
  const own = table.dataset.shared?.checks ?? [];
  return [
    ...repeated(table),
    ...foreign(table),
    ...(given.isPart ? missing(table) : []),
    ...table.columns.flatMap((column) => (column === table.owner ? [] : unknown(table, column, tables))),
    ...own.map(({ sql, path, reason }) => ({ sql, fault: () => `.${path}: ${reason}` })),
  ];
}

/** Where the column of a row stands in the file, below its record. */
const pathIn = ({ list, isOfTexts }: Table, column: Column, nth: number | null): string =>
  list ? `.${list.name}[${nth}]${isOfTexts ? '' : `.${column.path}`}` : `.${column.path}`;

const FIRST = 'order by s.place, s.nth limit 1';

/** Within an array, the record's own check has found them. */
function repeated(table: Table): Check[] {
  const { stage, match, columns } = table;
  const [key] = match;
  const column = columns.find(({ name }) => name === key);
  if (match.length > 1 || !column) return [];
  return [
    {
      sql: `select line, place, nth from (
          select *, row_number() over (partition by ${key} order by place, nth) as time from ${stage}
          where ${key} in (select ${key} from ${stage} group by ${key} having count(*) > 1)
        ) s where time > 1 ${FIRST}`,
      fault: ({ nth }) => `${pathIn(table, column, nth)}: is in the file twice`,
    },
  ];
}

function foreign(table: Table): Check[] {
  const id = table.columns.find(({ name }) => name === 'id');
  if (!id || table.isShared) return [];
  return [
    {
      sql: `select s.line, s.place, s.nth from ${table.stage} s join ${table.name} t on t.id = s.id
        where t.organization_id <> $1 ${FIRST}`,
      fault: ({ nth }) => `${pathIn(table, id, nth)}: belongs to another organization`,
    },
  ];
}

/** Of a file that has a part of the fields, new rows may lack what they need. */
const missing = ({ stage, name, match, columns, list, isShared }: Table): Check[] =>
  (list ? [] : columns.filter(({ isRequired }) => isRequired)).map((column) => ({
    sql: `select s.line, s.place, s.nth from ${stage} s where s.${column.name} is null and not exists (
        select from ${name} t where ${isShared ? '' : 't.organization_id = $1 and '}t.${match[0]} = s.${match[0]}
      ) ${FIRST}`,
    fault: () => `.${column.path}: missing or invalid`,
  }));

function unknown(table: Table, column: Column, tables: Table[]): Check[] {
  if (!column.target) return [];
  const { table: name, key, what } = column.target;
  const target = tables.find((other) => other.name === name);
  const { owner } = target ?? {};
  const main = target && tables.find(({ section, list }) => section === target.section && !list);
  // Entries that the file takes from their record are no more.
  const stays =
    owner && main ? `and not exists (select from ${main.stage} o where o.${main.match[0]} = t.${owner.name})` : '';
  const isStaged = target ? `and not exists (select from ${target.stage} g where g.${key} = s.${column.name})` : '';
  return [
    {
      sql: `select s.line, s.place, s.nth from ${table.stage} s
        where s.${column.name} is not null ${isStaged} and not exists (
          select from ${name} t where t.organization_id = $1 and t.${key} = s.${column.name} ${stays}
        ) ${FIRST}`,
      fault: ({ nth }) => `${pathIn(table, column, nth)}: unknown ${what}`,
    },
  ];
}
