import type { DataSource, EntityManager } from 'typeorm';
import { schemasOf } from '../fields/field-rules';
import type { Datasets } from '../datasets/dataset';
import { type Table, tablesOf } from '../datasets/tables';
import { derivedColumnsOf } from '../schema/derived';

/** A column in which an address or a number may stand. */
export interface SearchedColumn {
  name: string;
  /** The path of its field in a record, or its name if no record has it. */
  field: string;
  isArray: boolean;
  isNullable: boolean;
  /** Whether it holds the address of a user, such as `createdBy`. */
  holdsUser: boolean;
  /** Whether it identifies the record, which is then the user. */
  isRecordKey: boolean;
}

/** A table of which texts are searched. */
export interface SearchedTable {
  name: string;
  /** The section or the list that its rows are known by, or its name. */
  resource: string;
  columns: SearchedColumn[];
  primaryKey: string[];
  /** The column that names the organization; undefined if all organizations share the rows. */
  organizationColumn?: string;
  /** The column that refers to a lead with which the row is deleted. */
  leadColumn?: string;
}

/** A list whose entries refer to users by their address, such as the users of an event. */
export interface UserLinks {
  table: string;
  /** The section of the records that have the list. */
  resource: string;
  field: string;
  ownerColumn: string;
  userColumn: string;
  userTable: string;
  userKey: string;
}

/** Tables that are traces, which are counted, and the bookkeeping of lists. Their other texts are ids and cursors. */
const UNSEARCHED_TABLES = ['idempotent_answers', 'changes', 'cursor_positions', 'lists', 'list_counts'];

interface CatalogRow {
  table: string;
  column: string;
  isArray: boolean;
  isNullable: boolean;
  primaryKey: string[];
  hasOrganization: boolean;
  leadColumn: string | null;
}

/** The columns of texts, JSON and lists of them, of all tables, those of extensions too. */
const CATALOG = `
  select c.relname as "table", a.attname as "column", t.typcategory = 'A' as "isArray", not a.attnotnull as "isNullable",
    coalesce((select array_agg(k.attname::text order by array_position(i.indkey::int2[], k.attnum)) from pg_index i
      join pg_attribute k on k.attrelid = c.oid and k.attnum = any(i.indkey::int2[])
      where i.indrelid = c.oid and i.indisprimary), '{}') as "primaryKey",
    exists (select from pg_attribute o where o.attrelid = c.oid and o.attname = 'organization_id') as "hasOrganization",
    (select l.attname from pg_constraint f join pg_attribute l on l.attrelid = c.oid and l.attnum = any(f.conkey)
      where f.conrelid = c.oid and f.confrelid = 'leads'::regclass and f.contype = 'f' and f.confdeltype = 'c'
        and l.attname <> 'organization_id' limit 1) as "leadColumn"
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid left join pg_type e on e.oid = t.typelem and t.typcategory = 'A'
  where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace
    and (coalesce(e.typcategory, t.typcategory) = 'S' or coalesce(e.typname, t.typname) in ('json', 'jsonb', 'xml'))
  order by c.relname, a.attnum`;

/** The tables of an organization, and those that all organizations share, as PostgreSQL's catalog has them. */
export async function searchedTables(manager: EntityManager, datasets: Datasets): Promise<SearchedTable[]> {
  const tables = tablesOf(manager.dataSource, datasets);
  const derived = new Set(derivedColumnsOf(manager.dataSource).map(({ table, column }) => `${table}.${column}`));
  const searched = new Map<string, SearchedTable>();
  for (const row of await manager.query<CatalogRow[]>(CATALOG)) {
    if (UNSEARCHED_TABLES.includes(row.table) || derived.has(`${row.table}.${row.column}`)) continue;
    const table = tables.find(({ name }) => name === row.table);
    const organizationColumn = organizationColumnOf(row);
    if (!organizationColumn && !table?.isShared) continue;
    const known = searched.get(row.table) ?? {
      name: row.table,
      resource: (table?.list?.name ?? table?.section) || row.table,
      columns: [],
      primaryKey: row.primaryKey,
      organizationColumn,
      leadColumn: row.table === 'leads' ? 'id' : (row.leadColumn ?? undefined),
    };
    known.columns.push(searchedColumn(row, table));
    searched.set(row.table, known);
  }
  return [...searched.values()];
}

function organizationColumnOf({ table, hasOrganization }: CatalogRow): string | undefined {
  if (table === 'organizations') return 'id';
  return hasOrganization ? 'organization_id' : undefined;
}

function searchedColumn({ table: tableName, column, isArray, isNullable }: CatalogRow, table?: Table): SearchedColumn {
  const filled = table?.columns.find(({ name }) => name === column);
  const kind = filled && !table?.list ? schemasOf(table!.dataset.record).get(filled.path)?.kind : undefined;
  const isAddressOfLead = tableName === 'leads' && column === 'email';
  return {
    name: column,
    field: filled?.path ?? column,
    isArray,
    isNullable,
    holdsUser: kind === 'email' && !isAddressOfLead,
    isRecordKey: filled !== undefined && filled.path === table?.dataset.key,
  };
}

/** The lists of all sections whose entries are addresses of users in another table. */
export function userLinks(dataSource: DataSource, datasets: Datasets): UserLinks[] {
  return tablesOf(dataSource, datasets).flatMap(({ name, section, dataset, list, owner, columns, hasTextEntries }) => {
    if (!list || !owner || !hasTextEntries || schemasOf(dataset.record).get(list.name)?.kind !== 'email') return [];
    const user = columns.find(({ property, target }) => property === list.key && target !== undefined);
    if (!user?.target) return [];
    return [
      {
        table: name,
        resource: section,
        field: list.name,
        ownerColumn: owner.name,
        userColumn: user.name,
        userTable: user.target.table,
        userKey: user.target.key,
      },
    ];
  });
}
