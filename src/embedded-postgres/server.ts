import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { spawnAs } from './account';
import type { DataDirectory } from './data-directory';
import { complaintIn, EmbeddedPostgresError } from './embedded-postgres-error';
import { freePort } from './free-port';

const run = promisify(execFile);

/** What every embedded PostgreSQL runs with. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  // A socket's path may not exceed 107 bytes.
  unix_socket_directories: '',
  // No rows in the log: statements, details, and errors, whose text may quote a value.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
};

/** Seconds that PostgreSQL may take to start, recovery after a crash included. */
const START_TIMEOUT_S = 600;
/** Seconds until a shutdown stops to wait for writes; the next start then recovers. */
const STOP_TIMEOUT_S = 30;
/** A start begins a larger log again. */
const MAX_LOG_BYTES = 5_000_000;

/** Complaints that pass: another process started it at the same moment, or the last one is not quite gone. */
const TRANSIENT = /lock file ".*" (already exists|is empty)|shared memory block|could not create any TCP\/IP/;

/** PostgreSQL cannot be used at this moment, for a reason that passes. */
export class TryAgain extends Error {}

/** What PostgreSQL's first process writes into postmaster.pid; the TCP port is not there at once. */
type Postmaster = { pid: number; port: number | undefined };

/** The PostgreSQL server of one data directory, whichever process started it. */
export class PostgresServer {
  private readonly log: string;

  constructor(
    readonly directory: DataDirectory,
    private readonly programs: string,
    private readonly settings: Record<string, string>,
  ) {
    this.log = join(directory.cluster, 'server.log');
  }

  /**
   * Starts PostgreSQL, in a session of its own, so that Ctrl-C in a terminal does not reach it. Returns when it accepts
   * connections.
   *
   * @param fixedPort otherwise the port of the last run if PostgreSQL was killed, or else any free one.
   * @throws TryAgain, or EmbeddedPostgresError with PostgreSQL's complaint.
   */
  async start(fixedPort: number | undefined): Promise<void> {
    const { cluster, account } = this.directory;
    const port = fixedPort ?? (await freePort(readPostmaster(cluster)?.port));
    removeStaleLock(cluster);
    let logged = statSync(this.log, { throwIfNoEntry: false })?.size ?? 0;
    if (logged > MAX_LOG_BYTES) {
      rmSync(this.log); // of a link, that itself: root does not follow what the account has put there
      logged = 0;
    }
    const settings = Object.entries({ ...SETTINGS, ...this.settings, port: String(port) });
    const options = settings.map(([name, value]) => `-c ${name}=${value}`).join(' ');
    const parameters = ['start', '-D', cluster, '-l', this.log, '-t', String(START_TIMEOUT_S), '-o', options];
    try {
      await run(join(this.programs, 'pg_ctl'), parameters, spawnAs(account));
    } catch (error) {
      const output = existsSync(this.log) ? readFileSync(this.log).subarray(logged).toString() : '';
      const complaint = complaintIn(output || String((error as { stderr?: string }).stderr));
      if (TRANSIENT.test(output)) throw new TryAgain(complaint);
      throw new EmbeddedPostgresError(`The embedded PostgreSQL did not start: ${complaint} (its log: ${this.log})`, {
        cause: error,
      });
    }
  }

  /** Stops PostgreSQL and waits until it is gone; connections are cut, transactions rolled back. */
  async stop(): Promise<void> {
    const stop = (mode: string) => {
      const parameters = ['stop', '-D', this.directory.cluster, '-m', mode, '-t', String(STOP_TIMEOUT_S)];
      return run(join(this.programs, 'pg_ctl'), parameters, spawnAs(this.directory.account));
    };
    await stop('fast').catch(() => stop('immediate'));
  }
}

/** The server that runs on the cluster; undefined when none does, even if a killed one left its postmaster.pid. */
export function runningPostmaster(cluster: string): Postmaster | undefined {
  const postmaster = readPostmaster(cluster);
  return postmaster && isPostmaster(postmaster.pid, cluster) ? postmaster : undefined;
}

/**
 * Removes what a killed PostgreSQL left. PostgreSQL does that itself, except for an empty file, and for one whose
 * process id now belongs to another process, as is usual when a container starts again. Should it be the file that
 * another server made a moment ago, then that one notices within a minute and recovers; the two never share the data.
 */
export function removeStaleLock(cluster: string): void {
  if (!runningPostmaster(cluster)) rmSync(join(cluster, 'postmaster.pid'), { force: true });
}

function readPostmaster(cluster: string): Postmaster | undefined {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    const pid = Number(lines[0]);
    return pid > 0 ? { pid, port: Number(lines[3]) || undefined } : undefined;
  } catch {
    return undefined; // there is none
  }
}

/** Whether the process exists and is this cluster's PostgreSQL, not another one that got its id. */
function isPostmaster(pid: number, cluster: string): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform === 'win32') return true;
    // A process that ended and was not waited for has no command line.
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(cluster);
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).includes(cluster);
  } catch {
    return false;
  }
}
