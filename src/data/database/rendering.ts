/**
 * SQL of each field of a response class. The compiler rejects a field without SQL and SQL without a field, so that a class
 * and the JSON that PostgreSQL renders for it always agree.
 */
export type Rendering<T> = { readonly [Field in keyof Required<T>]: string };

const columnsOf = (fields: Record<string, string>): string =>
  Object.entries(fields)
    .map(([field, sql]) => (sql === field ? field : `${sql} as "${field}"`))
    .join(', ');

/** SQL of an object inside another one. */
export const jsonObject = <T>(fields: Rendering<T>): string =>
  `(select row_to_json(o) from (select ${columnsOf(fields)}) o)`;

/** SQL of the JSON text of a row. */
export const json = <T>(fields: Rendering<T>): string =>
  `(select row_to_json(o)::text from (select ${columnsOf(fields)}) o)`;

/** SQL of an array of objects. @param source what follows `from`, with its order */
export const jsonList = <T>(fields: Rendering<T>, source: string): string =>
  `coalesce((select json_agg(row_to_json(o)) from (select ${columnsOf(fields)} from ${source}) o), '[]')`;
