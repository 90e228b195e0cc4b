import type { DataSource, QueryRunner } from 'typeorm';
import { ConfigError } from '../../config';

const SESSION_QUERY = `
  select pg_backend_pid() as pid, (select setting::integer from pg_settings where name = 'lock_timeout') as "lockTimeoutMs"`;

/**
 * Checks that there is no pooler in front of PostgreSQL that Lanyard cannot work with. If each transaction gets another
 * connection, prepared statements are lost and requests fail now and then. If connection settings are ignored, so are the
 * timeouts, and an interrupted migration keeps its lock. Two open connections show both.
 * @param runner a connection of the data source that is in use
 * @param lockTimeoutMs what the data source asks for
 * @throws ConfigError
 */
export async function requireDirectConnection(
  dataSource: DataSource,
  runner: QueryRunner,
  lockTimeoutMs: number,
): Promise<void> {
  type Session = { pid: number; lockTimeoutMs: number };
  const [session] = (await runner.query(SESSION_QUERY)) as [Session];
  const [other] = await dataSource.query<[Session]>(SESSION_QUERY);
  if (session.pid !== other.pid && other.lockTimeoutMs === lockTimeoutMs) return;
  const reason =
    session.pid === other.pid ? 'two connections share one session' : 'the settings of sessions are ignored';
  throw new ConfigError(
    `DATABASE_URL: ${reason}. Connect to PostgreSQL directly, not through a pooler such as PgBouncer in transaction mode.`,
  );
}
