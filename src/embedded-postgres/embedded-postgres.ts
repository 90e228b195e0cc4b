import { setTimeout as delay } from 'node:timers/promises';
import { findNativePackage } from './binaries';
import { readPassword, ROLE } from './cluster';
import { type DataDirectory, settleDataDirectory, SYSTEM_DIR } from './data-directory';
import { codeOf, EmbeddedPostgresError, explain, messageOf } from './embedded-postgres-error';
import { DATABASE, Membership } from './membership';
import { Server, StartAgain } from './server';

export interface EmbeddedPostgres {
  /** Connection string of the service's database; it stays the same when PostgreSQL is killed and started again. */
  readonly url: string;
  /** Where the data is; not always where it was asked for (see `explicit`). */
  readonly dataDir: string;
  /**
   * Gives PostgreSQL up: the last process that does stops it, and waits until it is gone. Close pools before. Calling
   * it again returns the same promise.
   */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  /** Whether the operator named the directory; then it is never moved to a place that PostgreSQL can reach. */
  readonly explicit: boolean;
  /** Told what a person should know, line by line. */
  readonly say?: (line: string) => void;
  /** Settings of PostgreSQL, for instance `fsync: 'off'` in tests. They do not change a server that is running. */
  readonly settings?: Record<string, string>;
  /** For root: where a default directory that PostgreSQL cannot reach moves to, and the programs with it. */
  readonly systemDir?: string;
}

/** Milliseconds for which a start is tried again, PostgreSQL's own recovery not counted. */
const PATIENCE = 60_000;
/** Milliseconds between two tries: the first, and the longest while PostgreSQL is started again. */
const FIRST_PAUSE = 20;
const LONGEST_PAUSE = 2000;
/** Milliseconds between two looks at the size of the log. */
const LOG_CHECK = 60_000;

/**
 * Runs PostgreSQL for this process: joins the server that already runs on the data directory, or starts it, making the
 * database on the first start. What a kill -9 or a power failure left behind needs no manual step. While the process
 * runs, a PostgreSQL that dies is started again on the same port.
 *
 * @throws EmbeddedPostgresError with one line for the person who started the program.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { say = () => undefined, settings = {}, systemDir = SYSTEM_DIR } = options;
  try {
    const native = findNativePackage(); // who has none needs no directory
    const directory = settleDataDirectory({ dataDir: options.dataDir, explicit: options.explicit, systemDir, say });
    const server = new Server({ native, directory, settings, systemDir, say });
    const { membership, port } = await join(server, directory);
    return new RunningPostgres(server, directory, port, membership, say);
  } catch (error) {
    throw explain(error, options.dataDir);
  }
}

interface Joined {
  readonly membership: Membership;
  readonly port: number;
}

/** Joins the server, starting it when it does not run. `port`, if given, is the only one it may be started on. */
async function join(server: Server, directory: DataDirectory, port?: number, signal?: AbortSignal): Promise<Joined> {
  let deadline = Date.now() + PATIENCE;
  for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 1.5, 200)) {
    let obstacle: unknown;
    try {
      const postmaster = server.running();
      if (postmaster?.status === 'starting') deadline = Date.now() + PATIENCE;
      if (!postmaster) await server.start(port);
      const joined = await tryToJoin(server, directory);
      if (joined) return joined;
    } catch (error) {
      if (!passes(error)) throw error;
      obstacle = error;
    }
    if (Date.now() > deadline) {
      const reason = obstacle ? messageOf(obstacle) : 'another process holds it';
      throw new EmbeddedPostgresError(`The embedded PostgreSQL in ${directory.path} does not answer: ${reason}`);
    }
    await delay(pause, undefined, { signal });
  }
}

async function tryToJoin(server: Server, directory: DataDirectory): Promise<Joined | undefined> {
  const postmaster = server.running();
  if (!postmaster?.port || postmaster.status !== 'ready') return undefined;
  const membership = await Membership.join(directory, postmaster.port);
  return membership && { membership, port: postmaster.port };
}

/** Starting, stopping, gone, full: these pass. A wrong password or a full disk does not. */
function passes(error: unknown): boolean {
  if (error instanceof StartAgain) return true;
  if (error instanceof EmbeddedPostgresError) return false;
  const passing = /^(57|53300|08|ECONN|EPIPE|ETIMEDOUT)/;
  return (
    passing.test(codeOf(error) ?? '') || /^(Connection terminated|Client (has|was)|timeout)/.test(messageOf(error))
  );
}

class RunningPostgres implements EmbeddedPostgres {
  readonly url: string;
  readonly dataDir: string;
  private readonly leaving = new AbortController();
  private readonly logCheck: NodeJS.Timeout;
  private returning: Promise<void> = Promise.resolve();
  private stopped?: Promise<void>;

  constructor(
    private readonly server: Server,
    private readonly directory: DataDirectory,
    private readonly port: number,
    private membership: Membership | undefined,
    private readonly say: (line: string) => void,
  ) {
    this.dataDir = directory.path;
    this.url = `postgres://${ROLE}:${readPassword(directory)}@127.0.0.1:${port}/${DATABASE}`;
    this.logCheck = setInterval(() => this.trimLog(), LOG_CHECK).unref();
    this.watch();
  }

  stop(): Promise<void> {
    this.stopped ??= this.leave();
    return this.stopped;
  }

  private async leave(): Promise<void> {
    clearInterval(this.logCheck);
    this.leaving.abort();
    await this.returning;
    // An error here means that PostgreSQL is gone already.
    await this.membership?.leave(() => this.server.stop()).catch(() => undefined);
  }

  private trimLog(): void {
    try {
      this.server.log.trim();
    } catch {
      // Next time; the log is not worth ending the process for.
    }
  }

  private watch(): void {
    this.membership?.onLost(() => {
      if (this.leaving.signal.aborted) return;
      this.membership = undefined;
      this.returning = this.comeBack();
    });
  }

  /** Tries until PostgreSQL runs again or stop() was called; existing pools then reconnect by themselves. */
  private async comeBack(): Promise<void> {
    this.say('PostgreSQL went away; starting it again');
    let told = '';
    for (let pause = FIRST_PAUSE; !this.leaving.signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      try {
        const { membership, port } = await join(this.server, this.directory, this.port, this.leaving.signal);
        this.membership = membership;
        this.watch();
        this.say(
          port === this.port ? 'PostgreSQL is back' : 'PostgreSQL is back on another port: start this process again',
        );
        return;
      } catch (error) {
        const reason = messageOf(explain(error, this.dataDir));
        if (reason !== told && !this.leaving.signal.aborted) this.say(reason);
        told = reason;
      }
      await delay(pause, undefined, { signal: this.leaving.signal }).catch(() => undefined);
    }
  }
}
