import { MAX_PAGE_SIZE } from './limits';
import { listOf, type TrackedList } from './tracked-list';

/** The parameters of a page, in SQL. */
interface PageParameters {
  /** items a page */
  limit: string;
  /** zero-based index of the page */
  index: string;
}

/**
 * A list that `Statements.paginate` reads. Its statements select a row for each item of the page: its JSON text, and the total.
 * An empty page is one row without a text. No row when what the list belongs to does not exist.
 */
export interface List {
  /** unique; its prepared statements are named after it */
  name: string;
  /** of the catalogue, which belongs to no organization: `$1` is the first value */
  shared?: boolean;
  /** values that the list is asked with; the parameters of the page follow them */
  values: number;
  /** the statement of any page */
  text: string;
  /** the statement of the first page, where that is a simpler one; it has no index */
  first?: string;
}

interface ListStatements extends Omit<List, 'text' | 'first'> {
  page: (parameters: PageParameters) => string;
  firstPage?: (limit: string) => string;
}

/** A list with statements of its own, of which the parameters of the page are the last. */
export function listWith({ page, firstPage, ...list }: ListStatements): List {
  const before = list.values + (list.shared ? 0 : 1);
  const limit = `$${before + 1}::bigint`;
  return { ...list, text: page({ limit, index: `$${before + 2}::bigint` }), first: firstPage?.(limit) };
}

/**
 * Rows of a page. The constant tells the planner that they are few; it knows nothing of a parameter, and would plan for a
 * tenth of the table.
 */
export const limited = (rows: string, table: string, limit: string, order = 'position'): string =>
  `select * from (${rows} limit ${MAX_PAGE_SIZE}) ${table} order by ${order} limit ${limit}`;

interface ArrivalList {
  entity: new () => object;
  /** SQL of an item's JSON text, from a row that is found by the name of the table */
  item: string;
  /** of a list that each parent has for itself: a select that has a row if the parent, whose id is `$2`, is there */
  exists?: string;
}

/** A list in order of arrival, whose total and pages are found without counting (docs/decisions/0007). */
export function arrivalList({ entity, item, exists }: ArrivalList): List {
  const { table, parent, shared } = listOf(entity);
  const id = parent && `$2::${parent.type}`;
  const list = `${shared ? '0' : '$1'}, '${table}'${id ? ` || '/' || ${id}` : ''}`;
  const conditions = [...(shared ? [] : ['organization_id = $1']), ...(parent ? [`${parent.column} = ${id}`] : [])];
  const select = (columns: string, where: string[]): string =>
    `select ${columns} from ${table} ${where.length ? `where ${where.join(' and ')}` : ''} order by position`;
  // Not a function of SQL, which PostgreSQL would plan at each call.
  const total = `coalesce((select rows from list_counts
    where (organization_id, list, shift, bucket) = (${list}, 40, 0)), 0)`;
  const counted = `select ${total} as total ${exists ? `where exists (${exists})` : ''}`;
  // The rows between are skipped in the index alone.
  const start = `${select('position', [...conditions, 'position >= seek.start'])} limit 1 offset seek.rest`;
  const following = select('*', [...conditions, `position >= (${start})`]);
  return listWith({
    name: table,
    shared,
    values: parent ? 1 : 0,
    firstPage: (limit) => pageOf({ table, item, counted, rows: limited(select('*', conditions), table, limit) }),
    page: ({ limit, index }) =>
      pageOf({
        table,
        item,
        counted,
        rows: limited(following, table, limit),
        seek: `cross join list_seek(${list}, ${index} * ${limit}) seek`,
      }),
  });
}

interface FilteredList extends Pick<List, 'name' | 'values'> {
  entity: new () => object;
  item: string;
  /** with `$n` parameters */
  where: string;
  /** of what belongs to a parent: a select that has a row if the parent is there */
  exists?: string;
}

/**
 * The rows of a table that meet a condition, in order of arrival. They are counted: a million take 0.1 s. Rows of several
 * parents follow each other parent by parent, since each parent has positions of its own.
 */
export function filteredList({ name, values, entity, item, where, exists }: FilteredList): List {
  const { table, shared, parent } = listOf(entity);
  const order = parent ? [parent.column, 'position'] : ['position'];
  const columns = order.join(', ');
  const place = parent ? `(${columns})` : columns;
  const count = `select count(*) as total from ${table} where ${where}`;
  const counted = exists ? `select total from (${count}) counted where exists (${exists})` : count;
  const rows = (more = ''): string => `select * from ${table} where ${where} ${more} order by ${columns}`;
  return listWith({
    name,
    values,
    shared,
    firstPage: (limit) => pageOf({ table, item, counted, order, rows: limited(rows(), table, limit, columns) }),
    page: ({ limit, index }) => {
      // The rows before the page are skipped in the index alone.
      const start = `select ${columns} from ${table} where ${where} order by ${columns} limit 1 offset ${index} * ${limit}`;
      const following = rows(`and ${place} >= (${start})`);
      return pageOf({ table, item, counted, order, rows: limited(following, table, limit, columns) });
    },
  });
}

/**
 * The rows of an organization's table that a key finds, in order of arrival. Most often there are one or none: they are
 * found once for the total and the page, in a plan that PostgreSQL keeps; the one of `filteredList` it may make each time.
 */
export function lookupList({ name, values, entity, item, where }: Omit<FilteredList, 'exists'>): List {
  const { table } = listOf(entity);
  return listWith({
    name,
    values,
    page: ({ limit, index }) => `
      with found as materialized (select position from ${table} where ${where})
      select page.json, counted.total
      from (select count(*) as total from found) counted
        left join (
          select ${item} as json, position
          from (${limited(`select position from found order by position offset ${index} * ${limit}`, 'places', limit)}) places
            join ${table} using (position)
          where organization_id = $1
        ) page on true
      order by page.position`,
  });
}

interface PageParts extends Pick<TrackedList, 'table'> {
  item: string;
  /** select of the `total` */
  counted: string;
  /** select of the rows of the page */
  rows: string;
  /** join of what the rows refer to */
  seek?: string;
  /** The columns that the rows are ordered by. */
  order?: string[];
}

const pageOf = ({ table, item, counted, rows, seek = '', order = ['position'] }: PageParts): string => `
  select page.json, counted.total
  from (${counted}) counted ${seek}
    left join lateral (select ${item} as json, ${order.join(', ')} from (${rows}) ${table}) page on true
  order by ${order.map((column) => `page.${column}`).join(', ')}`;
