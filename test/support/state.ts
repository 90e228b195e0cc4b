import { query } from './embedded-fixtures';

/** What changes by itself: the use of keys is noted once a minute. */
const OWN_PACE = { column: 'last_used_at', table: 'key_usage' };

/** Every row of every table with all of its columns, as text. */
export async function everyRow(url: string): Promise<Record<string, unknown>> {
  const tables = await query(
    url,
    `select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> '${OWN_PACE.table}' order by 1`,
  );
  const selects = tables.map(
    ({ name }) => `'${name}', (select json_agg(r order by r) from (
      select (to_jsonb(t) - '${OWN_PACE.column}')::text as r from ${name} t) t)`,
  );
  const [state] = await query(url, `select json_build_object(${selects.join(', ')}) as all`);
  return state?.all as Record<string, unknown>;
}
