import type { Table } from './tables';

/**
 * The statements that lock what an import adds to, in the order of docs/locking.md: the lists of an organization and of
 * the catalog, the parents that have lists of their own, and those lists. `$1` is the organization's id.
 * Requests lock a list before the rows in it. An import that locked rows first would deadlock with them, and would not see
 * the rows that they add while it waits.
 */
export function lockStatements(tables: Table[]): string[] {
  const tracked = tables.filter((table) => table.tracked).sort((one, other) => (one.name < other.name ? -1 : 1));
  const nested = tracked.filter((table) => table.tracked?.parent);
  const lists = tracked.filter((table) => !nested.includes(table));
  return [
    ...lists.map(lockList),
    ...nested.map((table) => `${selectParents(table)} for no key update`),
    ...nested.map(lockNestedLists),
  ];
}

/** The stored parents to whose lists the staged rows belong. */
function selectParents({ stage, columns, tracked }: Table): string {
  const { table = '', column = '' } = tracked?.parent ?? {};
  const key = columns.find(({ name }) => name === column)?.target?.key ?? 'id';
  return `select p.id from ${table} p where p.organization_id = $1 and p.${key} in (select ${column} from ${stage})
    order by p.id`;
}

const lockList = ({ name, isShared }: Table): string => `select list_take(${isShared ? '0' : '$1'}, '${name}', 0)`;

const lockNestedLists = (table: Table): string =>
  `select list_take($1, '${table.name}/' || parent.id, 0) from (${selectParents(table)}) parent`;
