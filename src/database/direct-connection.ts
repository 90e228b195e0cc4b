import { DataSource } from 'typeorm';
import type { PoolClient } from 'pg';
import { ConfigError } from '../config';
import { LOST_STATEMENT } from '../errors/sql-state-codes';
import { dataSourceOptions, poolOf } from './data-source';
import { hasSqlState, isConnectionError, sqlState } from './errors';
import { STATEMENT_TIMEOUT_MS } from './limits';

/** A named statement, as requests have them. */
const SESSION_QUERY = {
  name: 'lanyard session',
  text: `select pg_backend_pid() as pid, (select setting from pg_settings where name = 'statement_timeout') as timeout`,
};

/**
 * Checks that there is no pooler in front of PostgreSQL that Lanyard cannot work with. If each transaction gets another
 * connection, prepared statements are lost and requests fail now and then. If connection settings are ignored, so are the
 * timeouts, and an interrupted migration keeps its lock. Two open connections show both.
 * @throws ConfigError
 */
export async function requireDirectConnection(url: string): Promise<void> {
  const dataSource = new DataSource({ ...dataSourceOptions(url, 2), entities: [], migrations: [] });
  try {
    await dataSource.initialize();
    const reason = await findMissingFeature(dataSource);
    if (reason === undefined) return;
    throw new ConfigError(
      `DATABASE_URL: ${reason}. Connect to PostgreSQL directly, not through a pooler such as PgBouncer in transaction mode.`,
    );
  } catch (error) {
    // A database that is away at this moment is waited for, or named, by what follows.
    if (!isConnectionError(error)) throw error;
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
  }
}

/** @returns what sessions lack, if anything */
async function findMissingFeature(dataSource: DataSource): Promise<string | undefined> {
  const pool = poolOf(dataSource);
  const clients: PoolClient[] = [];
  try {
    for (let n = 0; n < 2; n++) clients.push(await pool.connect());
    const pids = new Set<number>();
    for (const client of clients) {
      const { rows } = await client.query<{ pid: number; timeout: string }>(SESSION_QUERY);
      const [session] = rows;
      if (session?.timeout !== String(STATEMENT_TIMEOUT_MS)) {
        return `statement_timeout is ${session?.timeout} ms although ${STATEMENT_TIMEOUT_MS} ms were requested`;
      }
      pids.add(session.pid);
    }
    return pids.size < clients.length ? 'two connections share one session' : undefined;
  } catch (error) {
    if (hasSqlState(error, LOST_STATEMENT)) return `prepared statements are lost (${sqlState(error)})`;
    throw error;
  } finally {
    for (const client of clients) client.release();
  }
}
