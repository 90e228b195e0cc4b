import { MAX_PAGE_SIZE } from './limits';
import { type TrackedList, trackedListOf } from './tracked-list';

/** SQL of the parameters of a page. */
interface PageParameters {
  /** The number of items per page. */
  limit: string;
  /** The zero-based index of the page. */
  index: string;
}

/**
 * A list that `Statements.paginate` reads. Its statements select one row for each item of the page: the JSON text and the
 * total. An empty page is one row without a text. If the parent of the list does not exist, there is no row.
 */
export interface PagedList {
  /** The unique name that its prepared statements are named after. */
  name: string;
  /** Whether all organizations share the list. Then `$1` is the first value, and not the organization. */
  isShared?: boolean;
  /** The number of values that the list is read with. The parameters of the page follow them. */
  valueCount: number;
  /** The statement of any page. */
  text: string;
  /** A simpler statement of the first page, if there is one. It has no parameter for the index. */
  firstPageText?: string;
}

interface PagedListOptions extends Omit<PagedList, 'text' | 'firstPageText'> {
  page: (parameters: PageParameters) => string;
  firstPage?: (limit: string) => string;
}

/** A list with statements of its own. The parameters of the page are the last ones. */
export function pagedList({ page, firstPage, ...list }: PagedListOptions): PagedList {
  const precedingParameters = list.valueCount + (list.isShared ? 0 : 1);
  const limit = `$${precedingParameters + 1}::bigint`;
  const index = `$${precedingParameters + 2}::bigint`;
  return { ...list, text: page({ limit, index }), firstPageText: firstPage?.(limit) };
}

/**
 * SQL that limits rows to those of a page. The planner does not know the value of the parameter and would expect a tenth of the
 * table, so the inner limit is a constant, which tells it that there are few.
 */
export const limitedRows = (rows: string, table: string, limit: string, order = 'position'): string =>
  `select * from (${rows} limit ${MAX_PAGE_SIZE}) ${table} order by ${order} limit ${limit}`;

interface ArrivalListOptions {
  entity: new () => object;
  /** SQL of an item's JSON text. It refers to the row by the name of the table. */
  rowJson: string;
  /** For a list that each parent has: a select that returns a row if the parent with the id `$2` exists. */
  parentExists?: string;
}

/** A list in order of arrival. Its total and its pages are found without counting rows (docs/decisions/0007). */
export function arrivalList({ entity, rowJson, parentExists }: ArrivalListOptions): PagedList {
  const { table, parent, isShared } = trackedListOf(entity);
  const parentId = parent && `$2::${parent.type}`;
  const list = `${isShared ? '0' : '$1'}, '${table}'${parentId ? ` || '/' || ${parentId}` : ''}`;
  const conditions: string[] = [];
  if (!isShared) conditions.push('organization_id = $1');
  if (parent) conditions.push(`${parent.column} = ${parentId}`);
  const select = (columns: string, where: string[]): string =>
    `select ${columns} from ${table} ${where.length ? `where ${where.join(' and ')}` : ''} order by position`;
  // This is not an SQL function, because PostgreSQL would plan it at each call.
  const total = `coalesce((select rows from list_counts
    where (organization_id, list, shift, bucket) = (${list}, 40, 0)), 0)`;
  const counted = `select ${total} as total ${parentExists ? `where exists (${parentExists})` : ''}`;
  // Only the index is read to skip the rows before the page.
  const start = `${select('position', [...conditions, 'position >= seek.start'])} limit 1 offset seek.rest`;
  const following = select('*', [...conditions, `position >= (${start})`]);
  return pagedList({
    name: table,
    isShared,
    valueCount: parent ? 1 : 0,
    firstPage: (limit) =>
      pageStatement({ table, rowJson, counted, rows: limitedRows(select('*', conditions), table, limit) }),
    page: ({ limit, index }) =>
      pageStatement({
        table,
        rowJson,
        counted,
        rows: limitedRows(following, table, limit),
        pageStart: `cross join list_seek(${list}, ${index} * ${limit}) seek`,
      }),
  });
}

interface FilteredListOptions extends Pick<PagedList, 'name' | 'valueCount'> {
  entity: new () => object;
  /** SQL of an item's JSON text. It refers to the row by the name of the table. */
  rowJson: string;
  /** The condition, with `$n` parameters. */
  where: string;
  /** For a list that each parent has: a select that returns a row if the parent exists. */
  parentExists?: string;
}

/**
 * The rows of a table that meet a condition, in order of arrival. They are counted: a million take 0.1 s. The rows of
 * several parents are ordered by parent first, because each parent has positions of its own.
 */
export function filteredList(options: FilteredListOptions): PagedList {
  const { name, valueCount, entity, rowJson, where, parentExists } = options;
  const { table, isShared, parent } = trackedListOf(entity);
  const order = parent ? [parent.column, 'position'] : ['position'];
  const columns = order.join(', ');
  const orderKey = parent ? `(${columns})` : columns;
  const count = `select count(*) as total from ${table} where ${where}`;
  const counted = parentExists ? `select total from (${count}) counted where exists (${parentExists})` : count;
  const selectRows = (condition: string): string => `select * from ${table} where ${condition} order by ${columns}`;
  return pagedList({
    name,
    valueCount,
    isShared,
    firstPage: (limit) => {
      const rows = limitedRows(selectRows(where), table, limit, columns);
      return pageStatement({ table, rowJson, counted, order, rows });
    },
    page: ({ limit, index }) => {
      // Only the index is read to skip the rows before the page.
      const start = `select ${columns} from ${table} where ${where} order by ${columns} limit 1 offset ${index} * ${limit}`;
      const following = selectRows(`${where} and ${orderKey} >= (${start})`);
      return pageStatement({
        table,
        rowJson,
        counted,
        order,
        rows: limitedRows(following, table, limit, columns),
      });
    },
  });
}

/**
 * The rows of an organization's table with a given key, in order of arrival. There is rarely more than one, so they are
 * found once for both the total and the page. PostgreSQL keeps the plan of this statement, but may plan that of
 * `filteredList` each time.
 */
export function lookupList(options: Omit<FilteredListOptions, 'parentExists'>): PagedList {
  const { name, valueCount, entity, rowJson, where } = options;
  const { table } = trackedListOf(entity);
  return pagedList({
    name,
    valueCount,
    page: ({ limit, index }) => {
      const positions = `select position from found order by position offset ${index} * ${limit}`;
      return `
      with found as materialized (select position from ${table} where ${where})
      select page.json, counted.total
      from (select count(*) as total from found) counted
        left join (
          select ${rowJson} as json, position
          from (${limitedRows(positions, 'positions', limit)}) positions
            join ${table} using (position)
          where organization_id = $1
        ) page on true
      order by page.position`;
    },
  });
}

interface PageParts extends Pick<TrackedList, 'table'> {
  rowJson: string;
  /** A select of the `total`. */
  counted: string;
  /** A select of the rows of the page. */
  rows: string;
  /** A join that `rows` refers to, to find where the page starts. */
  pageStart?: string;
  /** The columns that the rows are ordered by. */
  order?: string[];
}

const pageStatement = ({ table, rowJson, counted, rows, pageStart = '', order = ['position'] }: PageParts): string => `
  select page.json, counted.total
  from (${counted}) counted ${pageStart}
    left join lateral (select ${rowJson} as json, ${order.join(', ')} from (${rows}) ${table}) page on true
  order by ${order.map((column) => `page.${column}`).join(', ')}`;
