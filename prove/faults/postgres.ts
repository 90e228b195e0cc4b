import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { type Account, accountFor, spawnAs } from '../../src/embedded-postgres/account';
import { type Binaries, findNativePackage, prepareBinaries } from '../../src/embedded-postgres/binaries';
import { createCluster, DATABASE, readPassword, ROLE } from '../../src/embedded-postgres/cluster';
import { freePort } from '../../src/embedded-postgres/free-port';
import { removeStaleLock } from '../../src/embedded-postgres/server';
import { Daemon, familyOf, until } from './daemon';

/** As an operator's PostgreSQL: its own defaults, with more in the log, and what is written stays written (fsync). */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '150',
  log_min_messages: 'info',
  log_min_error_statement: 'error',
};

interface Made {
  binaries: Binaries;
  account: Account | undefined;
  /** the data directory */
  cluster: string;
  port: number;
}

/** A PostgreSQL of a fault's own. */
export class Postgres extends Daemon {
  private constructor(
    logFile: string,
    private readonly made: Made,
    private readonly settings: Record<string, string>,
  ) {
    super(logFile);
  }

  /** @param path an empty directory, or one that does not exist; also where the disk is small */
  static async make(path: string, logFile: string, settings: Record<string, string> = {}): Promise<Postgres> {
    mkdirSync(path, { recursive: true });
    const cluster = join(path, 'postgresql');
    const account = accountFor(cluster);
    const binaries = prepareBinaries(findNativePackage(), account, path);
    await createCluster({ path, cluster, account }, binaries, false);
    const made = { binaries, account, cluster, port: await freePort() };
    const postgres = new Postgres(logFile, made, settings);
    await postgres.start();
    return postgres;
  }

  get port(): number {
    return this.made.port;
  }

  /** @param port of a proxy, in place of PostgreSQL's own */
  url(port = this.port, database = DATABASE): string {
    const password = readPassword(this.made.cluster);
    return `postgres://${ROLE}:${password}@127.0.0.1:${port}/${database}`;
  }

  /** Starts it, and returns when it accepts connections. What a kill left behind may stand in the way for a moment. */
  async start(): Promise<void> {
    await until('PostgreSQL starts', async () => {
      if (!this.isRunning) this.launch();
      return this.accepts();
    });
  }

  /** Starts it, and does not wait. */
  launch(): void {
    const { binaries, account, cluster, port } = this.made;
    removeStaleLock(cluster);
    const settings = Object.entries({ ...SETTINGS, ...this.settings, port: String(port) });
    const options = settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    this.run(binaries.postgres, ['-D', cluster, ...options], spawnAs(account));
  }

  async accepts(): Promise<boolean> {
    return this.query('select 1', 'postgres').then(
      () => true,
      () => false,
    );
  }

  /** How often it said that it is up, also after a recovery of its own. */
  timesReady(): number {
    return readFileSync(this.logFile, 'utf8').split('ready to accept connections').length - 1;
  }

  /** One statement on a connection of its own. */
  async query<R extends object>(statement: string, database = DATABASE): Promise<R[]> {
    const client = new Client({ connectionString: this.url(undefined, database), connectionTimeoutMillis: 5000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<R>(statement)).rows;
    } finally {
      // A connection that was refused does not end by itself when the server is stopped.
      void client.end().catch(() => undefined);
    }
  }

  /** kill -9 of every process of it, as a failing machine does. */
  async killAll(): Promise<void> {
    const family = familyOf(this.pid);
    for (const pid of family) send(pid, 'SIGKILL');
    await this.exited;
    await until('PostgreSQL is gone', () => family.every((pid) => !send(pid, 0)));
  }

  /** kill -9 of one process that serves a client: PostgreSQL then ends all others and recovers. */
  async killOneBackend(): Promise<void> {
    const backends = `select pid from pg_stat_activity where application_name = 'lanyard' order by random() limit 1`;
    await until('a backend is killed', async () => {
      const [backend] = await this.query<{ pid: number }>(backends);
      return backend !== undefined && send(backend.pid, 'SIGKILL');
    });
  }

  pauseAll(): void {
    for (const pid of familyOf(this.pid)) send(pid, 'SIGSTOP');
  }

  resumeAll(): void {
    for (const pid of familyOf(this.pid)) send(pid, 'SIGCONT');
  }

  /** An administrator's restart: connections are cut, transactions rolled back. */
  async fastShutdown(): Promise<void> {
    this.signal('SIGINT');
    await this.exited;
  }

  override async stop(): Promise<void> {
    if (!this.isRunning) return;
    this.resumeAll();
    this.signal('SIGINT');
    const late = setTimeout(() => this.signal('SIGQUIT'), 10_000);
    await this.exited;
    clearTimeout(late);
  }
}

/** @returns whether there is such a process */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
