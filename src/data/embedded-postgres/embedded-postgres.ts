import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { clusterPath, createCluster, majorVersionOf, DATABASE_NAME, readPassword } from './cluster';
import { errorLineIn, EmbeddedPostgresError, explainError } from './embedded-postgres-error';
import { lastSetting, OWNER_SETTING, removeStaleLock, runningPostmaster } from './postmaster';
import { accountFor, type Programs } from './programs';
import { type DataDirOptions, prepareDataDir, reachablePrograms } from './reach';

export interface EmbeddedPostgresOptions extends DataDirOptions {
  /** Whether to restart PostgreSQL if it ends before stop(), as servers do. */
  readonly keepRunning?: boolean;
}

/** The settings of every embedded PostgreSQL. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '', // a socket's path may not exceed 107 bytes
  // The log must not contain rows, so it has no statements, no details, and no errors whose text may quote a value.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
};

const MAX_LOG_BYTES = 5_000_000;
const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = fs.constants;

const POLL_MS = 50;
/** A minute, for a PostgreSQL that another process starts or stops. Recovery in a PostgreSQL of our own does not count. */
const MAX_POLLS = 1200;
const WATCH_INTERVAL_MS = 500;
const RETRY_INTERVAL_MS = 10_000;

/** Temporary errors: another process started it at the same time, the previous one is still stopping, or the port is taken. */
const TRANSIENT_ERRORS = /lock file ".*" (already exists|is empty)|shared memory block|could not create any TCP\/IP/;

/**
 * Runs PostgreSQL for this process. A process that finds none running starts it as its child, owns it, and ends it in
 * stop(); others join. The first start creates the database.
 * @throws EmbeddedPostgresError with one line for the person who started the program
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  try {
    const account = accountFor(clusterPath(options.dataDir));
    const dataDir = prepareDataDir(options, account);
    const programs = reachablePrograms(account, options.systemDir);
    const [existing, major] = [majorVersionOf(dataDir), programs.check()];
    if (!existing) {
      options.log(`Creating a PostgreSQL ${major} database in ${dataDir}`);
      if (account) options.log(`PostgreSQL cannot run as root. It runs as user ${account.uid}, who owns its data.`);
      await createCluster(dataDir, programs);
    } else if (existing !== major) {
      throw new EmbeddedPostgresError(
        `${dataDir} holds data of PostgreSQL ${existing}, but this release of Lanyard includes PostgreSQL ${major}. Set LANYARD_DATA_DIR to another directory and move the data with pg_dump.`,
      );
    }
    return await new EmbeddedPostgres(clusterPath(dataDir), programs, options).start();
  } catch (error) {
    throw explainError(error, options.dataDir);
  }
}

const isRunning = (child?: ChildProcess): boolean => child?.exitCode === null && child.signalCode === null;

/** A running PostgreSQL, which this process has started or joined. */
export class EmbeddedPostgres {
  private readonly stopping = new AbortController(); // passed to delay() as its options
  private child?: ChildProcess;
  private postmaster?: { readonly pid: number; readonly port: number };
  private watching?: Promise<void>;

  constructor(
    private readonly cluster: string,
    private readonly programs: Programs,
    private readonly options: EmbeddedPostgresOptions,
    private readonly log = join(cluster, 'server.log'),
    private readonly password = readPassword(cluster),
  ) {}

  /**
   * Connection string of the service's database. It stays the same when PostgreSQL restarts. It has what the driver would
   * otherwise take from the environment (PGSSLMODE, PGCLIENTENCODING), which is meant for other servers.
   */
  get url(): string {
    const address = `${DATABASE_NAME}:${this.password}@127.0.0.1:${this.postmaster?.port}/${DATABASE_NAME}`;
    return `postgres://${address}?sslmode=disable&client_encoding=UTF8`;
  }

  async start(): Promise<this> {
    await this.joinOrLaunch();
    if (this.options.keepRunning) this.watching = this.watch();
    return this;
  }

  /** Ends PostgreSQL if this process owns it or its owner is gone. Transactions are rolled back. Close pools first. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.watching;
    if (isRunning(this.child) || runningPostmaster(this.cluster)?.isOrphan) await this.end();
  }

  /**
   * Nearly all writes finish within 30 seconds; otherwise the next start recovers. If that fails too, PostgreSQL is already
   * gone.
   */
  private async end(): Promise<void> {
    const stop = (mode: string) => this.programs.run('pg_ctl', ['stop', '-D', this.cluster, '-t', '30', '-m', mode]);
    await stop('fast').catch(() => stop('immediate').catch(() => undefined));
  }

  private async joinOrLaunch(): Promise<void> {
    // The previous port is used again, so that processes that had joined find PostgreSQL there.
    let port = this.postmaster?.port ?? lastSetting(this.cluster, 'port');
    for (let polls = 0; polls < MAX_POLLS; polls++) {
      const running = runningPostmaster(this.cluster);
      if (!running) {
        await this.launch(port ?? randomInt(20_000, 32_000));
        port = this.postmaster?.port;
      } else if (running.isOrphan) await this.end();
      else if (running.isReady) {
        if (this.postmaster && this.postmaster.port !== running.port) break;
        this.postmaster = running;
        return;
      }
      await delay(POLL_MS, undefined, this.stopping);
    }
    throw new EmbeddedPostgresError(`The embedded PostgreSQL did not become ready (its log: ${this.log})`);
  }

  /** Returns when PostgreSQL accepts connections or has failed with a temporary error. */
  private async launch(port: number): Promise<void> {
    const { account, options } = this.programs;
    // Root must not follow a link that the account has put there.
    const log = fs.openSync(this.log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
    if (account) fs.fchownSync(log, account.uid, account.gid);
    if (fs.fstatSync(log).size > MAX_LOG_BYTES) fs.ftruncateSync(log);
    const { size } = fs.fstatSync(log);
    const settings = Object.entries({ ...SETTINGS, port, [OWNER_SETTING]: process.pid });
    const parameters = ['-D', this.cluster, ...settings.map(([name, value]) => `--${name}=${value}`)];
    const child = spawn(this.programs.file('postgres'), parameters, {
      ...options,
      detached: true, // A session of its own keeps Ctrl-C in a terminal from reaching it.
      windowsHide: true,
      stdio: ['ignore', log, log],
    });
    fs.closeSync(log);
    child.unref();
    await once(child, 'spawn');
    this.child = child;
    const interrupt = () => child.kill('SIGINT'); // a second Ctrl-C exits without stop()
    process.once('exit', interrupt);
    child.once('exit', () => process.off('exit', interrupt));
    while (isRunning(child)) {
      if (runningPostmaster(this.cluster)?.isReady) return;
      await delay(POLL_MS, undefined, this.stopping);
    }
    const output = fs.readFileSync(this.log).subarray(size).toString();
    if (TRANSIENT_ERRORS.test(output)) return removeStaleLock(this.cluster);
    const reason = errorLineIn(output || `it exited with ${child.signalCode ?? `status ${child.exitCode}`}`);
    throw new EmbeddedPostgresError(`The embedded PostgreSQL did not start: ${reason} (its log: ${this.log})`);
  }

  /** Restarts PostgreSQL on the same port whenever it ends, until stop() is called; pools reconnect by themselves. */
  private async watch(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        await delay(WATCH_INTERVAL_MS, undefined, this.stopping);
        if (runningPostmaster(this.cluster)) continue;
        this.options.log('PostgreSQL stopped; restarting it');
        await this.joinOrLaunch();
        this.options.log('PostgreSQL is running again');
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        this.options.log((explainError(error, this.options.dataDir) as Error).message);
        await delay(RETRY_INTERVAL_MS, undefined, this.stopping).catch(() => undefined);
      }
    }
  }
}
