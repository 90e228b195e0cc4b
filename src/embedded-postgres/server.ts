import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, fstatSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { spawnAs } from './account';
import { type Binaries, type NativePackage, prepareBinaries } from './binaries';
import { createCluster, hasCluster } from './cluster';
import { type DataDirectory, makeSystemDirectory } from './data-directory';
import { EmbeddedPostgresError } from './embedded-postgres-error';
import { freePort } from './free-port';
import { isPostmaster, type Postmaster, readPostmaster, removeEmptyLock } from './postmaster';
import { programEnvironment } from './program-environment';
import { lastComplaint, ServerLog } from './server-log';
import { SETTINGS } from './server-settings';
import { tryStartLock } from './start-lock';

/** Milliseconds between two looks at postmaster.pid. */
const POLL = 10;
/** Milliseconds that a fast shutdown may take before PostgreSQL is stopped at once (and recovers at the next start). */
const FAST_SHUTDOWN = 30_000;

/** PostgreSQL did not come up, for a reason that passes: another process was faster, or the last one is not yet gone. */
export class StartAgain extends Error {}

const PASSES =
  /lock file ".*" (already exists|is empty)|bogus data in lock file|could not remove old lock file|pre-existing shared memory block|could not create any TCP\/IP/;

interface ServerOptions {
  readonly native: NativePackage;
  readonly directory: DataDirectory;
  readonly settings: Record<string, string>;
  readonly systemDir: string;
  readonly say: (line: string) => void;
}

/** The PostgreSQL server of one data directory, whichever process started it. */
export class Server {
  readonly log: ServerLog;

  constructor(private readonly options: ServerOptions) {
    this.log = new ServerLog(options.directory);
  }

  /** @throws EmbeddedPostgresError when the data is of another major version of PostgreSQL. */
  running(): Postmaster | undefined {
    const { directory } = this.options;
    if (!hasCluster(directory, this.options.native.major)) return undefined;
    const postmaster = readPostmaster(directory.cluster);
    return postmaster && isPostmaster(postmaster.pid, directory.cluster) ? postmaster : undefined;
  }

  /**
   * Starts PostgreSQL, in a process group of its own, so that Ctrl-C in a terminal reaches this process alone; makes
   * the cluster before if there is none. Returns when it accepts connections.
   *
   * @param port the only port that will do; without it, that of the last run if PostgreSQL was killed, else a free one.
   * @throws StartAgain, or EmbeddedPostgresError with PostgreSQL's complaint.
   */
  async start(port: number | undefined): Promise<void> {
    const unlock = tryStartLock(this.options.directory.path);
    if (!unlock) throw new StartAgain('another process is starting it');
    try {
      if (this.running()) return;
      const binaries = await this.binaries();
      await this.makeCluster(binaries, port === undefined);
      await this.run(binaries, port);
    } finally {
      unlock();
    }
  }

  private async makeCluster(binaries: Binaries, mayBeNew: boolean): Promise<void> {
    const { directory, settings, say } = this.options;
    if (hasCluster(directory, this.options.native.major)) return;
    // A server whose data was removed below it must not go on with an empty database.
    if (!mayBeNew) throw new EmbeddedPostgresError(`The PostgreSQL data in ${directory.path} is gone`);
    say(`Making a PostgreSQL ${this.options.native.major} database in ${directory.path}`);
    await createCluster(directory, binaries, settings.fsync !== 'off');
  }

  private async run(binaries: Binaries, port: number | undefined): Promise<void> {
    const { cluster } = this.options.directory;
    removeEmptyLock(cluster);
    const left = readPostmaster(cluster);
    const chosen = port ?? (await freePort(left?.port));
    this.log.trim();
    const file = this.log.open();
    try {
      const position = fstatSync(file).size;
      const child = this.spawn(binaries, chosen, left, file);
      if (await this.ready(child)) return;
      const complaint = this.log.linesOf(child.pid, file, position);
      if (complaint.some((line) => PASSES.test(line))) throw new StartAgain(lastComplaint(complaint));
      throw new EmbeddedPostgresError(
        `The embedded PostgreSQL did not start: ${lastComplaint(complaint)} (its log: ${this.log.path})`,
      );
    } finally {
      closeSync(file);
    }
  }

  /** Stops PostgreSQL and waits until it is gone; connections are cut, transactions rolled back. */
  async stop(): Promise<void> {
    const { cluster } = this.options.directory;
    const postmaster = this.running();
    if (!postmaster) return;
    await this.signal(postmaster.pid, 'INT');
    const deadline = Date.now() + FAST_SHUTDOWN;
    let quit = false;
    while (isPostmaster(postmaster.pid, cluster)) {
      if (!quit && Date.now() > deadline) {
        quit = true;
        await this.signal(postmaster.pid, 'QUIT');
      }
      await delay(POLL);
    }
  }

  private spawn(binaries: Binaries, port: number, left: Postmaster | undefined, log: number): ChildProcess {
    const { directory, settings } = this.options;
    const all = { ...SETTINGS, ...settings, port: String(port) };
    // A left-over postmaster.pid whose number belongs to another process by now stops PostgreSQL for good, unless the
    // number is that of its parent's parent, which is what pg_ctl has this variable for. PostgreSQL then still checks
    // that the old server's shared memory is unused.
    const stale = left && !isPostmaster(left.pid, directory.cluster) ? { PG_GRANDPARENT_PID: String(left.pid) } : {};
    const child = spawn(
      binaries.postgres,
      ['-D', directory.cluster, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      {
        ...spawnAs(directory.account),
        env: programEnvironment(stale),
        stdio: ['ignore', log, log],
        detached: true,
        windowsHide: true,
      },
    );
    child.unref();
    return child;
  }

  /** Waits until the server accepts connections (true) or has ended (false). @throws when it cannot even be run. */
  private async ready(child: ChildProcess): Promise<boolean> {
    let ended = false;
    let failure: Error | undefined;
    child.once('exit', (_code, signal) => {
      ended = true;
      if (signal) failure = new StartAgain(`PostgreSQL was ended by ${signal} while it started`);
    });
    child.once('error', (error) => (failure = error));
    const since = Date.now();
    let said = false;
    while (!ended && !failure) {
      const postmaster = readPostmaster(this.options.directory.cluster);
      if (postmaster?.pid === child.pid && postmaster?.status === 'ready') return true;
      if (!said && Date.now() - since > 5000) {
        said = true;
        this.options.say('PostgreSQL is still starting; after a crash it recovers first');
      }
      await delay(POLL);
    }
    if (failure) throw failure;
    return false;
  }

  private async signal(pid: number, name: 'INT' | 'QUIT'): Promise<void> {
    if (process.platform !== 'win32') {
      process.kill(pid, `SIG${name}`);
    } else {
      execFileSync((await this.binaries()).pgCtl, ['kill', name, String(pid)], { windowsHide: true });
    }
  }

  private binaries(): Promise<Binaries> {
    const { directory, systemDir } = this.options;
    return prepareBinaries(this.options.native, directory.account, () => {
      if (!directory.account) return directory.path;
      makeSystemDirectory(systemDir);
      return systemDir;
    });
  }
}
