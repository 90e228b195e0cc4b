import { createHash } from 'node:crypto';
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Account, accountFor, barrier, nearestExisting } from './account';
import { EmbeddedPostgresError } from './embedded-postgres-error';

export interface DataDirectory {
  /** Absolute, without symbolic links, so that every process sees the same one. */
  readonly path: string;
  /** The PostgreSQL cluster in it. */
  readonly cluster: string;
  /** Who runs PostgreSQL; undefined: this process's own user. */
  readonly account: Account | undefined;
}

/** Where root's default directories move to. */
export const SYSTEM_DIR = '/var/lib/lanyard';

interface DataDirectoryOptions {
  readonly dataDir: string;
  readonly explicit: boolean;
  readonly systemDir: string;
  readonly say: (line: string) => void;
}

/**
 * Makes the data directory, in a place that the account which runs PostgreSQL can reach. Only root needs to move: the
 * default below, say, /root becomes a directory of `systemDir` whose name follows from the default's path, so that
 * every later start finds it again. A directory that the operator named is never moved.
 *
 * @throws EmbeddedPostgresError when the operator's directory, or a default that already holds data, is out of reach.
 */
export function settleDataDirectory(options: DataDirectoryOptions): DataDirectory {
  const wanted = resolve(options.dataDir);
  const account = accountFor(clusterIn(wanted));
  if (!account) {
    mkdirSync(wanted, { recursive: true, mode: 0o700 });
    return described(wanted, account);
  }
  adopt(wanted, account);
  const blocked = barrier(wanted, account);
  const moved = join(options.systemDir, nameFor(wanted));
  const stays = existsSync(clusterIn(wanted)) || !existsSync(clusterIn(moved));
  if (!blocked && (options.explicit || stays)) return made(wanted, account);
  if (blocked && options.explicit) {
    throw new EmbeddedPostgresError(
      `LANYARD_DATA_DIR: PostgreSQL does not run as root but as ${account.name}, who cannot reach ${wanted} because of ${blocked}`,
    );
  }
  if (existsSync(clusterIn(wanted))) {
    throw new EmbeddedPostgresError(
      `${wanted} holds a database, but ${account.name}, who runs PostgreSQL in place of root, cannot reach it because of ${blocked}: open that directory (chmod a+x), or set LANYARD_DATA_DIR`,
    );
  }
  return movedTo(moved, wanted, options);
}

/** Whether a start would find data there, or where root's default moves to. What cannot be looked into may hold some. */
export function mayHoldData(dataDir: string): boolean {
  return [dataDir, join(SYSTEM_DIR, nameFor(dataDir))].some((path) => {
    try {
      return statSync(clusterIn(path), { throwIfNoEntry: false }) !== undefined;
    } catch {
      return true;
    }
  });
}

/**
 * Makes a directory that nobody but root can change, for what root writes and others read.
 *
 * @throws EmbeddedPostgresError when it is already there and somebody else could have put things in it.
 */
export function makeSystemDirectory(path: string): void {
  if (mkdirSync(path, { recursive: true })) chmodSync(path, 0o755);
  const stats = lstatSync(path);
  if (stats.isDirectory() && stats.uid === 0 && (stats.mode & 0o022) === 0) return;
  throw new EmbeddedPostgresError(`${path} must be a directory that root owns and nobody else can write to`);
}

function movedTo(moved: string, wanted: string, { systemDir, say }: DataDirectoryOptions): DataDirectory {
  makeSystemDirectory(systemDir);
  const account = accountFor(clusterIn(moved));
  const blocked = account && barrier(moved, account);
  if (!account || blocked) throw new EmbeddedPostgresError(`${blocked} cannot be entered: set LANYARD_DATA_DIR`);
  const directory = made(moved, account);
  say(`The data is in ${moved}: ${account.name}, who runs PostgreSQL in place of root, cannot use ${wanted}.`);
  return directory;
}

/** An empty directory that root made for us, perhaps with mode 0700, becomes the account's own. */
function adopt(path: string, { uid, gid }: Account): void {
  if (existsSync(path) && statSync(path).uid === 0 && readdirSync(path).length === 0) chownSync(path, uid, gid);
}

function made(path: string, account: Account): DataDirectory {
  const above = nearestExisting(path);
  mkdirSync(path, { recursive: true });
  for (let place = path; place !== above; place = dirname(place)) {
    // The umask may have closed them.
    chmodSync(place, place === path ? 0o700 : 0o755);
    chownSync(place, account.uid, account.gid);
  }
  return described(path, account);
}

function described(path: string, account: Account | undefined): DataDirectory {
  const real = realpathSync(path);
  return { path: real, cluster: clusterIn(real), account };
}

function clusterIn(dataDir: string): string {
  return join(dataDir, 'postgresql');
}

function nameFor(dataDir: string): string {
  const project = basename(dirname(dataDir)).replace(/[^\w.-]/g, '_');
  return `${project}-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`;
}
