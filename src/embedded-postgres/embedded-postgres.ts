import { setTimeout as delay } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { findNativePackage, prepareBinaries } from './binaries';
import { createCluster, DATABASE, hasCluster, readPassword, ROLE } from './cluster';
import { type DataDirectoryOptions, settleDataDirectory, SYSTEM_DIR } from './data-directory';
import { EmbeddedPostgresError, explain } from './embedded-postgres-error';
import { PostgresServer, runningPostmaster, TryAgain } from './server';

export interface EmbeddedPostgresOptions extends Partial<DataDirectoryOptions> {
  readonly dataDir: string;
  readonly explicit: boolean;
  /** Settings of PostgreSQL, for instance `fsync: 'off'` in tests; plain words. A server that runs keeps its own. */
  readonly settings?: Record<string, string>;
}

/** Advisory lock that every process which uses the server holds in shared mode. */
const IN_USE = 5_269_716_233;

const RETRY_MS = 50;
/** For a server that another process starts or stops; recovery in a start of our own is not counted. */
const JOIN_TIMEOUT_MS = 60_000;
const RESTART_RETRY_MS = 2000;

/**
 * Runs PostgreSQL for this process: joins the server that runs on the data directory, or starts it, and makes the
 * database on the first start. While this process runs, a PostgreSQL that is killed is started again on the same port.
 *
 * @throws EmbeddedPostgresError with one line for the person who started the program.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, explicit, say = () => undefined, settings = {}, systemDir = SYSTEM_DIR } = options;
  try {
    const native = findNativePackage();
    const directory = settleDataDirectory({ dataDir, explicit, systemDir, say });
    const [major = ''] = native.version.split('.');
    const isNew = !hasCluster(directory, major);
    const programs = prepareBinaries(native, directory.account, systemDir);
    if (isNew) {
      say(`Making a PostgreSQL ${major} database in ${directory.path}`);
      await createCluster(directory, programs, settings.fsync !== 'off');
    }
    const postgres = new EmbeddedPostgres(new PostgresServer(directory, programs, settings), say);
    await postgres.start();
    return postgres;
  } catch (error) {
    throw explain(error, dataDir);
  }
}

/**
 * One process's share in the server: a connection that holds a lock. It ends with the process, also by kill -9, so
 * nothing is ever left over. It is in the database `postgres`, so that the service's own can be cloned or dropped.
 */
export class EmbeddedPostgres {
  private readonly stopping = new AbortController();
  private readonly password: string;
  private port?: number;
  private connection?: Client;
  private returning?: Promise<void>;

  constructor(
    private readonly server: PostgresServer,
    private readonly say: (line: string) => void,
  ) {
    this.password = readPassword(server.directory.cluster);
  }

  /** Connection string of the service's database; it stays the same when PostgreSQL is killed and started again. */
  get url(): string {
    return `postgres://${ROLE}:${this.password}@127.0.0.1:${this.port}/${DATABASE}`;
  }

  /** Where the data is; not always where it was asked for (see `explicit`). */
  get dataDir(): string {
    return this.server.directory.path;
  }

  /** Joins the server, and starts it when it does not run. */
  async start(): Promise<void> {
    const deadline = Date.now() + JOIN_TIMEOUT_MS;
    while (!this.stopping.signal.aborted) {
      try {
        await this.join();
        return;
      } catch (error) {
        if (!(error instanceof TryAgain)) throw error;
        if (Date.now() > deadline)
          throw new EmbeddedPostgresError(`The embedded PostgreSQL does not answer: ${error.message}`);
      }
      await delay(RETRY_MS);
    }
  }

  /** Ends this process's use of PostgreSQL; the last process to do so stops it. Close pools before. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.returning;
    const { connection } = this;
    this.connection = undefined;
    try {
      await connection?.query('select pg_advisory_unlock_shared($1)', [IN_USE]);
      const last = await connection?.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [IN_USE]);
      if (last?.rows[0]?.locked) await this.server.stop(); // meanwhile the lock keeps others from joining
    } catch {
      // PostgreSQL is gone already.
    }
    await connection?.end().catch(() => undefined);
  }

  /** @throws TryAgain when what is in the way passes */
  private async join(): Promise<void> {
    const { cluster } = this.server.directory;
    if (!runningPostmaster(cluster)) await this.server.start(this.port);
    const port = runningPostmaster(cluster)?.port;
    if (!port) throw new TryAgain('it has no port yet');
    if (this.port && port !== this.port) {
      throw new EmbeddedPostgresError('PostgreSQL runs on another port now: start this process again');
    }
    await this.connect(port);
  }

  private async connect(port: number): Promise<void> {
    const connection = new Client({
      ...{ host: '127.0.0.1', port, user: ROLE, password: this.password, database: 'postgres', ssl: false },
      application_name: 'lanyard (keeps PostgreSQL running)',
      connectionTimeoutMillis: 10_000,
    });
    connection.on('error', () => undefined); // 'end' follows
    try {
      await connection.connect();
      const sql = 'select pg_try_advisory_lock_shared($1) as locked';
      const { rows } = await connection.query<{ locked: boolean }>(sql, [IN_USE]);
      if (!rows[0]?.locked) throw new TryAgain('another process stops it');
    } catch (error) {
      void connection.end().catch(() => undefined);
      // Starting, stopping and full pass (SQLSTATE 57P01 to 57P03, 53300), like every failure of the connection.
      if (error instanceof DatabaseError && !/^57P|^53300/.test(String(error.code))) throw error;
      throw new TryAgain((error as Error).message);
    }
    this.port = port;
    this.connection = connection;
    connection.once('end', () => this.lost());
  }

  private lost(): void {
    this.connection = undefined;
    if (!this.stopping.signal.aborted) this.returning = this.restart();
  }

  /** Tries until PostgreSQL runs again or stop() is called; pools then reconnect by themselves. */
  private async restart(): Promise<void> {
    const { signal } = this.stopping;
    this.say('PostgreSQL ended; starting it again');
    for (let said = ''; !signal.aborted;) {
      try {
        await this.start();
        if (this.connection) this.say('PostgreSQL is back');
        return;
      } catch (error) {
        const { message } = explain(error, this.dataDir) as Error;
        if (message !== said) this.say(message);
        said = message;
        await delay(RESTART_RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }
}
