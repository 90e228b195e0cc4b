/**
 * The SQL with which PostgreSQL renders JSON text. Reads are one statement each: the text goes out to the client as it
 * is, without hydration and without a second serialization.
 *
 * A statement has two parts: `rows` chooses rows, and `render`, which finds them under the name `page`, makes the
 * resource of each one. So a list is paged first, and children are fetched for that page alone.
 */

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

/** How rows, found under the name `page`, become JSON: a select of one column a key, or a column that holds the text. */
export type Render = string | { stored: string };

/** Of rows that are gone there is nothing to show. */
export const NOTHING: Render = { stored: `'{}'` };

const texts = (render: Render): string =>
  typeof render === 'string'
    ? `select row_to_json(r)::text as json from (${render}) r`
    : `select ${render.stored} as json from page`;

/** The JSON text of one resource, or of each. `rows` may also be an insert or an update that returns rows. */
export const one = (rows: string, render: Render): string => `with page as (${rows}) ${texts(render)}`;

/**
 * The JSON texts of all resources, joined by commas, in the order of `rows`: PostgreSQL keeps the order of a sorted
 * subquery where nothing is joined to it, and a render joins nothing.
 */
export const many = (rows: string, render: Render): string =>
  `with page as (${rows}) select coalesce(string_agg(json, ','), '') as json from (${texts(render)}) r`;

/**
 * The JSON texts of a page, in as many rows as are quickest: short texts are joined, as every row costs Node.js more than
 * its text; stored ones come as they are, as joining them makes PostgreSQL ask for more memory than it keeps.
 */
export const page = (rows: string, render: Render): string =>
  typeof render === 'string' ? many(rows, render) : one(rows, render);
