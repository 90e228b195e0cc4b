import type { DataSource, EntityManager } from 'typeorm';
import { schemasOf } from '../../fields/field-rules';
import type { Datasets } from '../datasets/dataset';
import { type Table, tablesOf } from '../datasets/tables';
import { derivedColumnsOf } from '../../data/schema/derived';

/** A column in which an address or a number may stand. */
export interface SearchedColumn {
  name: string;
  isArray: boolean;
  isNullable: boolean;
  /** The path of its field in a record, or its name if no record has it. */
  field: string;
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
  /** The column that names the organization; null if all organizations share the rows. */
  organizationColumn: string | null;
  /** The column that refers to a lead with which the row is deleted. */
  leadColumn: string | null;
}

/** What PostgreSQL knows of a table. */
type CatalogColumn = Pick<SearchedColumn, 'name' | 'isArray' | 'isNullable'>;
type CatalogTable = Omit<SearchedTable, 'resource' | 'columns'> & { columns: CatalogColumn[] };

/** Tables that are traces, which are counted, and the bookkeeping of lists. Their other texts are ids and cursors. */
const UNSEARCHED_TABLES = ['idempotent_answers', 'changes', 'cursor_positions', 'lists', 'list_counts'];

/** The columns of texts, JSON and lists of them, of all tables, those of extensions too, without the columns `$2`. */
const CATALOG = `
  select c.relname as name, json_agg(json_build_object(
      'name', a.attname, 'isArray', t.typcategory = 'A', 'isNullable', not a.attnotnull) order by a.attnum) as columns,
    coalesce((select array_agg(k.attname::text order by array_position(i.indkey::int2[], k.attnum)) from pg_index i
      join pg_attribute k on k.attrelid = c.oid and k.attnum = any(i.indkey::int2[])
      where i.indrelid = c.oid and i.indisprimary), '{}') as "primaryKey",
    case c.relname when 'organizations' then 'id' else (select o.attname from pg_attribute o
      where o.attrelid = c.oid and o.attname = 'organization_id') end as "organizationColumn",
    case c.relname when 'leads' then 'id' else (select l.attname from pg_constraint f
      join pg_attribute l on l.attrelid = c.oid and l.attnum = any(f.conkey)
      where f.conrelid = c.oid and f.confrelid = 'leads'::regclass and f.contype = 'f' and f.confdeltype = 'c'
        and l.attname <> 'organization_id' limit 1) end as "leadColumn"
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid left join pg_type e on e.oid = t.typelem and t.typcategory = 'A'
  where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace
    and (coalesce(e.typcategory, t.typcategory) = 'S' or coalesce(e.typname, t.typname) in ('json', 'jsonb', 'xml'))
    and c.relname <> all($1::text[]) and c.relname || '.' || a.attname <> all($2::text[])
  group by c.oid, c.relname order by c.relname`;

/** The tables of an organization, and those that all organizations share, as PostgreSQL's catalog has them. */
export async function searchedTables(manager: EntityManager, datasets: Datasets): Promise<SearchedTable[]> {
  const tables = tablesOf(manager.dataSource, datasets);
  const derived = derivedColumnsOf(manager.dataSource).map(({ table, column }) => `${table}.${column}`);
  const found = await manager.query<CatalogTable[]>(CATALOG, [UNSEARCHED_TABLES, derived]);
  return found.flatMap((each) => {
    const table = tables.find(({ name }) => name === each.name);
    if (!each.organizationColumn && !table?.isShared) return [];
    const columns = each.columns.map((column) => ({ ...column, ...meaningOf(column.name, table) }));
    return { ...each, columns, resource: (table?.list?.name ?? table?.section) || each.name };
  });
}

function meaningOf(column: string, table?: Table): Omit<SearchedColumn, keyof CatalogColumn> {
  const filled = table?.columns.find(({ name }) => name === column);
  const kind = filled && !table?.list ? schemasOf(table!.dataset.record).get(filled.path)?.kind : undefined;
  return {
    field: filled?.path ?? column,
    holdsUser: kind === 'email' && !(table?.name === 'leads' && column === 'email'),
    isRecordKey: filled !== undefined && filled.path === table?.dataset.key,
  };
}

/** Lists whose entries refer to users by their addresses, such as the users of an event, and the records with users of `$2`. */
export function userLists(dataSource: DataSource, datasets: Datasets) {
  return tablesOf(dataSource, datasets).flatMap(({ name, section, dataset, list, owner, columns }) => {
    const user = columns.find(({ property }) => property === list?.key);
    if (!list || !owner || !user?.target || schemasOf(dataset.record).get(list.name)?.kind !== 'email') return [];
    const statement = `
      select to_jsonb(t.${owner.name}) as id from ${name} t
        join ${user.target.table} u on u.organization_id = t.organization_id and u.id = t.${user.name}
      where t.organization_id = $1 and lower(u.${user.target.key}) = any($2::text[]) order by 1`;
    return { resource: section, field: list.name, statement };
  });
}
