import { MAX_PAGE_SIZE } from './limits';
import { trackedListOf } from './tracked-list';

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
  /** For a list that each parent has: a select that returns a row if the parent exists, whose ID is `$2` in `arrivalList`. */
  parentExists?: string;
}

/** A list in order of arrival. Its total and its pages are found without counting rows (docs/decisions/0007). */
export function arrivalList({ entity, rowJson, parentExists }: ArrivalListOptions): PagedList {
  const { table, parent, isShared } = trackedListOf(entity);
  const parentId = parent && `$2::${parent.type}`;
  const list = `${isShared ? '0' : '$1'}, '${table}'${parentId ? ` || '/' || ${parentId}` : ''}`;
  const owner = isShared ? 'true' : 'organization_id = $1';
  // This is not an SQL function, because PostgreSQL would plan it at each call.
  const total = `coalesce((select rows from list_counts
    where (organization_id, list, shift, bucket) = (${list}, 40, 0)), 0)`;
  return orderedList({
    name: table,
    isShared,
    valueCount: parent ? 1 : 0,
    table,
    rowJson,
    where: parent ? `${owner} and ${parent.column} = ${parentId}` : owner,
    counted: `select ${total} as total ${parentExists ? `where exists (${parentExists})` : ''}`,
    order: ['position'],
    trackedList: list,
  });
}

interface FilteredListOptions extends ArrivalListOptions, Pick<PagedList, 'name' | 'valueCount'> {
  /** The condition, with `$n` parameters. */
  where: string;
}

/**
 * The rows of a table that meet a condition, in order of arrival. They are counted: a million take 0.1 s. The rows of
 * several parents are ordered by parent first, because each parent has positions of its own.
 */
export function filteredList(options: FilteredListOptions): PagedList {
  const { name, valueCount, entity, rowJson, where, parentExists } = options;
  const { table, isShared, parent } = trackedListOf(entity);
  const count = `select count(*) as total from ${table} where ${where}`;
  return orderedList({
    name,
    valueCount,
    isShared,
    table,
    rowJson,
    where,
    counted: parentExists ? `select total from (${count}) counted where exists (${parentExists})` : count,
    order: parent ? [parent.column, 'position'] : ['position'],
  });
}

interface LookupListOptions extends Omit<FilteredListOptions, 'where'> {
  /** A select of the `position` of each row. */
  positions: string;
}

/**
 * The rows of an organization's table that an index finds, in order of arrival. They are found once for both the total and the
 * page. PostgreSQL keeps the plan of this statement, but may plan that of `filteredList` each time.
 */
export function lookupList(options: LookupListOptions): PagedList {
  const { name, valueCount, entity, rowJson, positions, parentExists } = options;
  const { table } = trackedListOf(entity);
  return pagedList({
    name,
    valueCount,
    page: ({ limit, index }) => {
      const onPage = `select position from found order by position offset ${index} * ${limit}`;
      return `
      with found as materialized (${positions})
      select page.json, counted.total
      from (select count(*) as total from found${parentExists ? ` having exists (${parentExists})` : ''}) counted
        left join (
          select ${rowJson} as json, position
          from (${limitedRows(onPage, 'positions', limit)}) positions
            join ${table} using (position)
          where organization_id = $1
        ) page on true
      order by page.position`;
    },
  });
}

interface OrderedListOptions extends Pick<PagedList, 'name' | 'isShared' | 'valueCount'> {
  table: string;
  rowJson: string;
  /** The condition of its rows. */
  where: string;
  /** A select of the `total`. */
  counted: string;
  /** The columns that the rows are ordered by. */
  order: string[];
  /** SQL that names a list whose rows are counted, so that fewer than 256 of them are skipped one by one; by default all are. */
  trackedList?: string;
}

/** A list whose pages are found by the columns of its order. */
function orderedList({ table, rowJson, where, counted, order, trackedList, ...list }: OrderedListOptions): PagedList {
  const columns = order.join(', ');
  const pageFrom = (limit: string, condition: string, join = ''): string => {
    const rows = `select * from ${table} where ${condition} order by ${columns}`;
    return `
  select page.json, counted.total
  from (${counted}) counted ${join}
    left join lateral (
      select ${rowJson} as json, ${columns} from (${limitedRows(rows, table, limit, columns)}) ${table}
    ) page on true
  order by ${order.map((column) => `page.${column}`).join(', ')}`;
  };
  return pagedList({
    ...list,
    firstPage: (limit) => pageFrom(limit, where),
    page: ({ limit, index }) => {
      // Only the index is read to skip the rows before the page.
      const startAfter = (skippedRows: string, condition: string): string =>
        `${where} and (${columns}) >= (select ${columns} from ${table} where ${condition}
          order by ${columns} limit 1 offset ${skippedRows})`;
      const skippedRows = `${index} * ${limit}`;
      if (!trackedList) return pageFrom(limit, startAfter(skippedRows, where));
      const seek = `cross join list_seek(${trackedList}, ${skippedRows}) seek`;
      return pageFrom(limit, startAfter('seek.rest', `${where} and position >= seek.start`), seek);
    },
  });
}
