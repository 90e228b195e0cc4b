import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { clusterPath, createCluster, DATABASE_NAME, readPassword } from '../../../src/data/embedded-postgres/cluster';
import { removeStaleLock } from '../../../src/data/embedded-postgres/postmaster';
import { accountFor, Programs } from '../../../src/data/embedded-postgres/programs';
import { freePort } from '../../support/servers/free-port';
import { Daemon, familyOf, send, succeeds, until } from '../support/daemon';

/** PostgreSQL's own defaults, so that what is committed is on disk (fsync), with more in the log. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '150',
  log_min_messages: 'info',
  log_min_error_statement: 'error',
};

/** A PostgreSQL of a fault's own: the embedded one. */
export class Postgres extends Daemon {
  private constructor(
    logFile: string,
    private readonly programs: Programs,
    /** the data directory */
    private readonly cluster: string,
    readonly port: number,
  ) {
    super(logFile);
  }

  /** @param path an empty directory, or one that does not exist */
  static async make(path: string, logFile: string): Promise<Postgres> {
    mkdirSync(path, { recursive: true });
    const programs = new Programs(accountFor(clusterPath(path)));
    programs.check();
    await createCluster(path, programs);
    const postgres = new Postgres(logFile, programs, clusterPath(path), await freePort());
    await postgres.start();
    return postgres;
  }

  /** @param port of a proxy, in place of PostgreSQL's own */
  url(port = this.port, database = DATABASE_NAME): string {
    const password = readPassword(this.cluster);
    return `postgres://${DATABASE_NAME}:${password}@127.0.0.1:${port}/${database}`;
  }

  /** Returns when it accepts connections. What a kill left may stand in the way for a moment. */
  async start(): Promise<void> {
    await until('PostgreSQL starts', async () => {
      if (!this.isRunning) this.launch();
      return this.accepts();
    });
  }

  launch(): void {
    removeStaleLock(this.cluster);
    const settings = Object.entries({ ...SETTINGS, port: String(this.port) });
    const parameters = ['-D', this.cluster, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    this.run(this.programs.file('postgres'), parameters, this.programs.options);
  }

  accepts(): Promise<boolean> {
    return succeeds(this.query('select 1', 'postgres'));
  }

  /** One statement on a connection of its own. */
  async query<R extends object>(statement: string, database = DATABASE_NAME): Promise<R[]> {
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

  /** Becomes a copy of the primary and follows it. From now on the primary waits for this one at each commit. */
  async follow(primary: Postgres): Promise<void> {
    await this.stop();
    await primary.fastShutdown();
    for (const file of readdirSync(this.cluster)) rmSync(join(this.cluster, file), { recursive: true, force: true });
    execFileSync('cp', ['-a', `${primary.cluster}/.`, this.cluster]);
    await primary.start();
    const name = `standby_${this.port}`;
    const source = primary.url(undefined, 'postgres');
    writeFileSync(join(this.cluster, 'standby.signal'), '');
    const settings = `synchronous_standby_names = ''\nprimary_conninfo = '${source}?application_name=${name}'\n`;
    writeFileSync(join(this.cluster, 'postgresql.auto.conf'), settings);
    await this.start();
    await primary.query(`alter system set synchronous_standby_names = '${name}'`);
    await primary.query('select pg_reload_conf()');
    await until('the standby is synchronous', async () => {
      const [row] = await primary.query<{ sync_state: string }>('select sync_state from pg_stat_replication');
      return row?.sync_state === 'sync';
    });
  }

  /** Makes a standby the primary. */
  async promote(): Promise<void> {
    await this.query('select pg_promote()', 'postgres');
  }

  /** Starts a stopped standby as a primary on the timeline that it followed, as nobody should. */
  async startUnpromoted(): Promise<void> {
    rmSync(join(this.cluster, 'standby.signal'));
    await this.start();
  }

  toAll(signal: 'SIGSTOP' | 'SIGCONT'): void {
    for (const pid of familyOf(this.pid)) send(pid, signal);
  }

  /** SIGINT: it ends its clients' connections, writes everything down and ends. */
  async fastShutdown(): Promise<void> {
    this.toAll('SIGCONT');
    this.signal('SIGINT');
    await this.exited;
  }

  override async stop(): Promise<void> {
    if (this.isRunning) await this.fastShutdown();
  }
}
