/** The SQL with which an export renders records, which it finds under the name `page`. */

/** A timestamptz column as ISO 8601 in UTC with milliseconds, whatever the session's time zone is. */
export const dateTime = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** A correlated select as a JSON array of objects, `[]` when it is empty. */
export const objects = (select: string): string =>
  `coalesce((select json_agg(row_to_json(o)) from (${select}) o), '[]'::json)`;

/** A correlated select of one column as a JSON array of values in some order, `[]` when it is empty. */
export const values = (column: string, from: string, order: string): string =>
  `coalesce((select json_agg(${column} order by ${order}) from ${from}), '[]'::json)`;

/** The rows of a table, found as `c`, that belong to a row of the page. */
export const children = (table: string, parent: string): string =>
  `${table} c where c.organization_id = page.organization_id and c.${parent} = page.id`;

/** An embedded object of a fixed set of columns. */
export const object = (columns: string): string => `(select row_to_json(o) from (select ${columns}) o)`;
