import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Account, accountFor, nearestExisting, spawnAs } from './account';
import { EmbeddedPostgresError } from './embedded-postgres-error';

export interface DataDirectory {
  /** Absolute, without symbolic links, so that every process uses the same name. */
  readonly path: string;
  /** PostgreSQL's own data directory in it. */
  readonly cluster: string;
  /** Who runs PostgreSQL; undefined: this process's own user. */
  readonly account: Account | undefined;
}

/** Where root's default directories move to. */
export const SYSTEM_DIR = '/var/lib/lanyard';

export interface DataDirectoryOptions {
  readonly dataDir: string;
  /** Whether the operator named the directory; then it is never moved to a place that PostgreSQL can reach. */
  readonly explicit: boolean;
  /** For root: where a default directory that PostgreSQL cannot reach moves to, and the programs with it. */
  readonly systemDir: string;
  /** Receives lines for the person who started the program. */
  readonly say: (line: string) => void;
}

/**
 * Makes the data directory. PostgreSQL does not run as root, and its account cannot reach a default directory below,
 * say, /root: that one moves to `systemDir`, under a name that every later start derives from the same path.
 *
 * @throws EmbeddedPostgresError when the account cannot reach a directory that the operator named, or that holds data.
 */
export function settleDataDirectory({ dataDir, explicit, systemDir, say }: DataDirectoryOptions): DataDirectory {
  const wanted = resolve(dataDir);
  const cluster = clusterIn(wanted);
  const account = accountFor(cluster);
  if (!account) return make(wanted, 0o700);
  const moved = join(systemDir, nameFor(wanted));
  const mustStay = explicit || existsSync(cluster);
  openIfEmpty(wanted);
  const isReachable = canReach(account, nearestExisting(wanted));
  if (isReachable && (mustStay || !existsSync(clusterIn(moved)))) return make(wanted, 0o755);
  if (mustStay) {
    throw new EmbeddedPostgresError(
      `PostgreSQL does not run as root but as ${account.name}, who cannot reach ${wanted}: open it and the directories above it (chmod a+x), or set LANYARD_DATA_DIR to another one`,
    );
  }
  say(`The data is in ${moved}, because PostgreSQL does not run as root but as ${account.name}`);
  return make(moved, 0o755);
}

/** Whether a start finds data there, or where root's default moves to. A directory that cannot be read may hold some. */
export function mayHoldData(dataDir: string): boolean {
  return [dataDir, join(SYSTEM_DIR, nameFor(dataDir))].some((path) => {
    try {
      return statSync(clusterIn(path), { throwIfNoEntry: false }) !== undefined;
    } catch {
      return true;
    }
  });
}

/** A directory that root made for us, perhaps with mode 0700. */
function openIfEmpty(path: string): void {
  if (existsSync(path) && statSync(path).uid === 0 && readdirSync(path).length === 0) chmodSync(path, 0o755);
}

const canReach = (account: Account, directory: string): boolean =>
  spawnSync('test', ['-x', directory], spawnAs(account)).status === 0;

/** Root keeps the directory and gives the account the cluster alone, so that nothing can be planted for root. */
function make(path: string, mode: number): DataDirectory {
  if (mkdirSync(path, { recursive: true })) chmodSync(path, mode); // whatever the umask is
  const real = realpathSync(path);
  const cluster = clusterIn(real);
  return { path: real, cluster, account: accountFor(cluster) };
}

const clusterIn = (dataDir: string): string => join(dataDir, 'postgresql');

function nameFor(dataDir: string): string {
  const project = basename(dirname(dataDir)).replace(/[^\w.-]/g, '_');
  return `${project}-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`;
}
