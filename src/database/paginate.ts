/** A list that `Statements.paginate` reads. */
export interface List {
  /** unique; its prepared statements are named after it */
  name: string;
  /** of the catalogue, which belongs to no organization: `$1` is the first value */
  shared?: boolean;
  /**
   * The select of a page, a row for each item: its JSON text, and the total. An empty page is one row without a text. No row
   * when what the list belongs to does not exist.
   * @param limit items a page; part of the text, so that PostgreSQL plans for it
   * @param index the parameter that holds the index of the page, in SQL; 0 for the first
   */
  page: (limit: number, index: string) => string;
}

interface ArrivalList {
  /** the table, which also names the list */
  table: string;
  /** SQL of an item's JSON text, from a row that is found by the name of the table */
  item: string;
  /** a list of each value of the column, whose value is `$2` */
  parent?: { column: string; exists: string };
  shared?: boolean;
}

/** A list in order of arrival, whose total and pages are found without counting (docs/decisions/0007). */
export function arrivalList({ table, item, parent, shared }: ArrivalList): List {
  const list = `${shared ? '0' : '$1'}, '${table}'${parent ? ` || '/' || $2::bigint` : ''}`;
  const conditions = [
    ...(shared ? [] : ['organization_id = $1']),
    ...(parent ? [`${parent.column} = $2::bigint`] : []),
  ];
  const select = (columns: string, where: string[], end: string): string => `
    select ${columns} from ${table} ${where.length ? `where ${where.join(' and ')}` : ''} order by position ${end}`;
  // Not a function of SQL, which PostgreSQL would plan at each call.
  const total = `coalesce((select rows from list_counts
    where (organization_id, list, shift, bucket) = (${list}, 40, 0)), 0)`;
  const counted = `select ${total} as total ${parent ? `where exists (${parent.exists})` : ''}`;
  return {
    name: table,
    shared,
    page: (limit, index) => {
      if (index === '0') return pageOf({ table, item, counted, rows: select('*', conditions, `limit ${limit}`) });
      // The rows between are skipped in the index alone.
      const start = select('position', [...conditions, 'position >= seek.start'], 'limit 1 offset seek.rest');
      const rows = select('*', [...conditions, `position >= (${start})`], `limit ${limit}`);
      return pageOf({ table, item, counted, rows, seek: `cross join list_seek(${list}, ${index} * ${limit}) seek` });
    },
  };
}

interface FilteredList {
  name: string;
  table: string;
  item: string;
  /** with `$n` parameters */
  where: string;
  shared?: boolean;
}

/** The rows of a table that meet a condition, in order of arrival. They are counted: a million take 0.1 s. */
export const filteredList = ({ name, table, item, where, shared }: FilteredList): List => ({
  name,
  shared,
  page: (limit, index) => {
    // The rows before the page are skipped in the index alone.
    const start = `select position from ${table} where ${where} order by position limit 1 offset ${index} * ${limit}`;
    const from = index === '0' ? '' : `and position >= (${start})`;
    const rows = `select * from ${table} where ${where} ${from} order by position limit ${limit}`;
    return pageOf({ table, item, rows, counted: `select count(*) as total from ${table} where ${where}` });
  },
});

/**
 * The rows of an organization's table that a key finds, in order of arrival. Most often there are one or none: they are
 * found once for the total and the page, in a plan that PostgreSQL keeps; the one of `filteredList` it may make each time.
 */
export const lookupList = ({ name, table, item, where }: FilteredList): List => ({
  name,
  page: (limit, index) => `
    with found as materialized (select position from ${table} where ${where})
    select page.json, counted.total
    from (select count(*) as total from found) counted
      left join (
        select ${item} as json, position
        from (select position from found order by position limit ${limit} offset ${index} * ${limit}) places
          join ${table} using (position)
        where organization_id = $1
      ) page on true
    order by page.position`,
});

interface PageParts extends Pick<ArrivalList, 'table' | 'item'> {
  /** select of the `total` */
  counted: string;
  /** select of the rows of the page */
  rows: string;
  /** join of what the rows refer to */
  seek?: string;
}

const pageOf = ({ table, item, counted, rows, seek = '' }: PageParts): string => `
  select page.json, counted.total
  from (${counted}) counted ${seek}
    left join lateral (select ${item} as json, position from (${rows}) ${table}) page on true
  order by page.position`;
