import { page, Render } from './json';
import { fromUuid, LEAST_UUID, type TrackedList } from './lists';

/** A list that is read a page at a time. */
export interface Listing {
  /** unique; its statements are called after it */
  name: string;
  /** whether the list is every organization's; `$1` is not the organization then */
  shared?: boolean;
  /** whether a page tells what helps to find it again, or another one of the same values */
  remembers?: true;
  /**
   * The select of a page: of the JSON texts of its items, joined by commas or a row each, of the total, which is null when
   * what the list belongs to does not exist, and of what it likes to be told again.
   * @param limit items a page: written into the statement, so that PostgreSQL's generic plan knows it
   * @param index the parameter that holds the page's index; none for the first page, which is the one asked for most and
   *   needs no looking for its place
   * @param known the parameter that holds what a page told before, null at first; none for a list that does not remember
   */
  page: (limit: number, index?: string, known?: string) => string;
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
 * A list whose totals and places the database keeps. Its statement's parameters are the organization (unless the list is
 * shared) and the parent (if it has one).
 * @param exists a select that has a row when what the list belongs to exists
 */
export function tracked(list: TrackedList, render: Render, exists?: string): Listing {
  const { name, table, parent, at, id, shared } = list;
  const parentValue = parent && `${shared ? '$1' : '$2'}::${parent.type}`;
  const rowsFrom = (columns: string, start?: string): string => {
    const conditions = [
      ...(shared ? [] : ['organization_id = $1']),
      ...(parent ? [`${parent.column} = ${parentValue}`] : []),
      ...(start ? [`(${at}, ${id.column}) >= (${start}.at, ${start}.id)`] : []),
    ];
    const where = conditions.length ? `where ${conditions.join(' and ')}` : '';
    return `select ${columns} from ${table} ${where} order by ${at}, ${id.column}`;
  };
  const key = `name = '${name}' and organization_id = ${shared ? '0' : '$1'}
    and parent = ${parent ? `${parentValue}::text` : "''"}`;
  const ifExists = exists ? `where exists (${exists})` : '';

  const first = (limit: number): string => {
    const total = `select coalesce((select total from lists where ${key}), 0) ${ifExists}`;
    return pageAndTotal(page(`${rowsFrom('*')} limit ${limit}`, render), total);
  };
  // The page's first row is found from the last boundary before it, over entries of the index alone; list-triggers.ts tells
  // about blocks and boundaries. (`offset 0`: found once, and not once for each use.)
  const later = (limit: number, index: string): string => `with list as (
      select id, total, blocks[n] as block, ${index} * ${limit} - coalesce(ranks[n], 0) as skip
      from (select *, width_bucket(${index} * ${limit}, ranks) as n from lists where ${key} offset 0) l offset 0
    ), boundary as (
      select total, skip - coalesce(ranks[n], 0) as skip, coalesce(moments[n], b.at, '-infinity') as at,
        ${fromUuid(`coalesce(ids[n], b.id, '${LEAST_UUID}')`, id.type)} as id
      from list l left join list_blocks b on b.list = l.id and b.block = l.block
        cross join lateral (select width_bucket(l.skip, b.ranks) as n) n offset 0
    )
    select json, coalesce(total, 0) as total from (select ${ifExists}) one left join boundary on true left join lateral (
      ${rowsFrom(`${at} as at, ${id.column} as id`, 'boundary')} offset boundary.skip limit 1
    ) first on true left join lateral (${page(`${rowsFrom('*', 'first')} limit ${limit}`, render)}) p on true`;

  return { name, shared, page: (limit, index) => (index ? later(limit, index) : first(limit)) };
}

/** The total stands in each row of the page; alone, when the page is empty. */
const pageAndTotal = (items: string, total: string): string =>
  `select json, total from (select (${total}) as total) t left join lateral (${items}) p on true`;
