import { Client } from 'pg';

/** An arbitrary constant. Every server without Redis holds this advisory lock in shared mode. */
const LOCAL_LIMITS_LOCK = 7_261_916;

/** The application_name of the connection that holds the lock. */
const APPLICATION_NAME = 'lanyard-local-limits';

/** Lets PostgreSQL notice within 20 seconds that the server's machine is gone. */
const KEEPALIVE_OPTIONS = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=2';

const TIMEOUT_MS = 5_000;
const RETRY_INTERVAL_MS = 10_000;

/** The number of servers without Redis on this database. Each of them enforces rate limits on its own. */
export const COUNT_SERVERS_WITHOUT_REDIS = `
  select count(*)::integer as servers from pg_locks
  where locktype = 'advisory' and classid = 0 and objid = ${LOCAL_LIMITS_LOCK} and objsubid = 1
    and database = (select oid from pg_database where datname = current_database())`;

/**
 * The advisory lock by which servers without Redis, which each enforce rate limits on their own, detect each other. It
 * belongs to a connection of its own, so it ends with the process, however that ends.
 */
export class LocalLimitsLock {
  private client?: Client;
  private retryTimer?: NodeJS.Timeout;
  private isReleased = false;

  constructor(
    private readonly url: string,
    private readonly retryIntervalMs = RETRY_INTERVAL_MS,
  ) {}

  /**
   * Holds the lock until `release`, even if the database restarts in between.
   * @returns the number of servers that hold it now, including this one, or undefined if the database does not respond
   */
  async hold(): Promise<number | undefined> {
    const client = new Client({
      connectionString: this.url,
      application_name: APPLICATION_NAME,
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
      options: KEEPALIVE_OPTIONS,
    });
    this.client = client;
    client.on('error', () => undefined); // `end` follows
    client.once('end', () => this.retryLater());
    try {
      await client.connect();
      await client.query('select pg_advisory_lock_shared($1)', [LOCAL_LIMITS_LOCK]);
      const { rows } = await client.query<{ servers: number }>(COUNT_SERVERS_WITHOUT_REDIS);
      return rows[0]?.servers;
    } catch {
      // A server that cannot detect others works as well as one that has no others.
      await client.end().catch(() => undefined);
      this.retryLater();
      return undefined;
    }
  }

  async release(): Promise<void> {
    this.isReleased = true;
    clearTimeout(this.retryTimer);
    await this.client?.end().catch(() => undefined);
  }

  private retryLater(): void {
    clearTimeout(this.retryTimer);
    if (!this.isReleased) this.retryTimer = setTimeout(() => void this.hold(), this.retryIntervalMs).unref();
  }
}

/** Warns in one line that servers without shared buckets each grant a key its full limits. */
export function localLimitsWarning(servers: number): string {
  const others = servers === 2 ? 'Another server without Redis uses' : `${servers - 1} other servers without Redis use`;
  return (
    `${others} this database, so each API key gets its limits ${servers} times. ` +
    'Set REDIS_URL on all servers to share the limits.'
  );
}
