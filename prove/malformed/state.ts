import type { Pool } from 'pg';

const TABLES = `
  select format('%I', relname) as name,
    (select string_agg(format('%I', attname), ', ') from pg_attribute
      where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns
  from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by relname`;

interface Table {
  name: string;
  columns: string;
}

/** All rows of a database: whether one changed, and how to have them back. */
export class State {
  private constructor(
    private readonly pool: Pool,
    private readonly tables: Table[],
  ) {}

  /** Keeps a copy of every table beside the tables. */
  static async of(pool: Pool): Promise<State> {
    const { rows } = await pool.query<Table>(TABLES);
    const state = new State(pool, rows);
    await pool.query('create schema kept');
    for (const { name } of rows) await pool.query(`create table kept.${name} as table public.${name}`);
    return state;
  }

  /** Digests of the tables, over every column. How keys are used is noted beside, and no client's data. */
  async digest(): Promise<string> {
    const watched = this.tables.filter(({ name }) => name !== 'key_usage');
    const digests = watched.map(
      ({ name }) =>
        `select '${name} ' || count(*) || ' ' || md5(coalesce(string_agg(line, e'\\n' order by line), '')) as digest
         from (select (to_jsonb(t) - 'last_used_at')::text as line from public.${name} t) as lines`,
    );
    const { rows } = await this.pool.query<{ digest: string }>(digests.join(' union all '));
    return rows.map(({ digest }) => digest).join('\n');
  }

  /** Puts every row back as it was. Foreign keys and triggers are not looked at meanwhile: all was right before. */
  async restore(): Promise<void> {
    const copies = this.tables.map(
      ({ name, columns }) =>
        `insert into public.${name} (${columns}) overriding system value select ${columns} from kept.${name}`,
    );
    const all = this.tables.map(({ name }) => `public.${name}`).join(', ');
    await this.pool.query(
      `begin; set local session_replication_role = replica; truncate ${all}; ${copies.join('; ')}; commit`,
    );
  }
}

/** The tables in which two digests differ. */
export function changedTables(before: string, after: string): string {
  const lines = before.split('\n');
  const changed = after.split('\n').filter((line, at) => line !== lines[at]);
  return changed.map((line) => line.split(' ')[0]).join(', ');
}
