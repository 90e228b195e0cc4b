import { Client } from 'pg';

/** What changes by itself: the use of keys is noted once a minute. */
const OWN_PACE = { column: 'last_used_at', table: 'key_usage' };

export interface State {
  /** every row of every table with all of its columns, as text */
  everyRow(): Promise<Record<string, unknown>>;
  end(): Promise<void>;
}

/** Reads a database on a connection of its own, which stays open because suites compare the state after each request. */
export async function openState(url: string): Promise<State> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined); // The database of a suite is dropped with the connections to it.
  await client.connect();
  const { rows: tables } = await client.query<{ name: string }>(
    `select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> '${OWN_PACE.table}' order by 1`,
  );
  const selects = tables.map(
    ({ name }) => `'${name}', (select json_agg(r order by r) from (
      select (to_jsonb(t) - '${OWN_PACE.column}')::text as r from ${name} t) t)`,
  );
  const text = `select json_build_object(${selects.join(', ')}) as all`;
  return {
    everyRow: async () => {
      const { rows } = await client.query<{ all: Record<string, unknown> }>({ name: 'every row', text });
      return rows[0]?.all ?? {};
    },
    end: () => client.end(),
  };
}
