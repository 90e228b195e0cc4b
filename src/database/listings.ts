import { page, Render } from './json';
import type { TrackedList } from './lists';

/** A list that is read a page at a time. */
export interface Listing {
  /** unique; its statements are named after it */
  name: string;
  /** whether all organizations share the list; `$1` is not the organization then */
  shared?: boolean;
  /**
   * The select of a page: of the JSON texts of its items, joined by commas or a row each, and of the total, which is null
   * when what the list belongs to does not exist.
   * @param limit items a page: written into the statement, so that PostgreSQL's generic plan knows it
   * @param index the parameter that holds the page's index; none for the first page, which is the one asked for most and
   *   whose beginning need not be looked for
   */
  page: (limit: number, index?: string) => string;
}

/** The rows of a list, and the number of them all. */
interface Counted extends Pick<Listing, 'name' | 'shared'> {
  /** select of the list's rows, in its order, without a limit; `$n` parameters */
  rows: string;
  /** select of the number of all rows; no number (null) when what the list belongs to does not exist */
  total: string;
  /** json.ts tells about it */
  render: Render;
}

/** A list of few rows, which are counted and skipped. */
export const counted = ({ name, shared, rows, total, render }: Counted): Listing => ({
  name,
  shared,
  page: (limit, index) => {
    const skip = index ? ` offset ${index} * ${limit}` : '';
    return pageAndTotal(page(`${rows} limit ${limit}${skip}`, render), total);
  },
});

/**
 * A list in order of arrival whose counts the database keeps. Its statement's parameters are the organization (unless the
 * list is shared) and the parent (if it has one).
 * @param exists a select that has a row when what the list belongs to exists
 */
export function tracked({ table, parent, shared }: TrackedList, render: Render, exists?: string): Listing {
  const where = [
    ...(shared ? [] : ['organization_id = $1']),
    ...(parent ? [`${parent.column} = $2::${parent.type}`] : []),
  ];
  const list = `${shared ? '0' : '$1'}, ${parent ? `'${table}/' || $2::${parent.type}` : `'${table}'`}`;
  const total = `select list_total(${list}) ${exists ? `where exists (${exists})` : ''}`;
  const select = (columns: string, conditions: string[], end: string): string => `
    select ${columns} from ${table} ${conditions.length ? `where ${conditions.join(' and ')}` : ''} order by position ${end}`;
  return {
    name: table,
    shared,
    page: (limit, index) => {
      if (!index) return pageAndTotal(page(select('*', where, `limit ${limit}`), render), total);
      // The rows between are skipped in the index alone.
      const start = select('position', [...where, 'position >= seek.start'], 'limit 1 offset seek.rest');
      const rows = select('*', [...where, `position >= (${start})`], `limit ${limit}`);
      return pageAndTotal(page(rows, render), total, `cross join list_seek(${list}, ${index} * ${limit}) seek`);
    },
  };
}

/**
 * The rows of an organization's list that meet a condition. No counts are kept of them: of a million, a count takes 0.1 s,
 * and so does the last page, whose beginning is found in the index alone.
 */
export const filtered = ({ table }: TrackedList, name: string, condition: string, render: Render): Listing => ({
  name: `${table}.${name}`,
  page: (limit, index) => {
    const matches = `from ${table} where organization_id = $1 and ${condition}`;
    const start = `(select position ${matches} order by position limit 1 offset ${index} * ${limit})`;
    const from = index ? `and position >= ${start}` : '';
    const rows = `select * ${matches} ${from} order by position limit ${limit}`;
    return pageAndTotal(page(rows, render), `select count(*) ${matches}`);
  },
});

/** The total stands in each row of the page; alone, when the page is empty. */
const pageAndTotal = (items: string, total: string, seek = ''): string =>
  `select json, total from (select (${total}) as total) t ${seek} left join lateral (${items}) p on true`;
