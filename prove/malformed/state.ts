import type { Pool } from 'pg';

const TABLES = `
  select format('%I', relname) as name from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname <> 'key_usage' order by relname`;

/** All rows of a database, but for how keys are used. */
export class State {
  private constructor(
    private readonly pool: Pool,
    private readonly tables: string[],
  ) {}

  static async of(pool: Pool): Promise<State> {
    const { rows } = await pool.query<{ name: string }>(TABLES);
    return new State(
      pool,
      rows.map(({ name }) => name),
    );
  }

  /** A line for each table: its name, and a digest of every column of every row. */
  async digest(): Promise<string> {
    const digests = this.tables.map(
      (name) =>
        `select '${name} ' || md5(coalesce(string_agg(line, e'\\n' order by line), '')) as digest
         from (select (to_jsonb(t) - 'last_used_at')::text as line from public.${name} t) as lines`,
    );
    const { rows } = await this.pool.query<{ digest: string }>(digests.join(' union all '));
    return rows.map(({ digest }) => digest).join('\n');
  }
}

/** The tables in which two digests differ. */
export function changedTables(before: string, after: string): string {
  const lines = before.split('\n');
  const changed = after.split('\n').filter((line, at) => line !== lines[at]);
  return changed.map((line) => line.split(' ')[0]).join(', ');
}
