import { existsSync, readFileSync, realpathSync, statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error';

/** A system account that runs PostgreSQL in place of root. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * In order of preference. `postgres` first: where it exists its purpose is to hold databases, while `nobody` is shared
 * by unrelated daemons, which could then read this one. initdb refuses a uid that has no name, so no number of our own.
 */
const UNPRIVILEGED = ['postgres', '_postgres', 'nobody'];

/**
 * The account that runs PostgreSQL on `cluster`, because PostgreSQL refuses to run as root: the owner of the cluster,
 * or else of the nearest directory above it, or else an unprivileged account of the system.
 *
 * @returns undefined when this process itself can run PostgreSQL (it is not root, or this is Windows).
 * @throws EmbeddedPostgresError when the system has no unprivileged account.
 */
export function accountFor(cluster: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const known = systemAccounts();
  const place = nearestExisting(cluster);
  const { uid, gid } = statSync(place);
  const owner = known.find((account) => account.uid === uid);
  if (uid !== 0 && owner) return owner;
  if (uid !== 0 && place === cluster) return { name: `uid ${uid}`, uid, gid };
  const account = UNPRIVILEGED.map((name) => known.find((one) => one.name === name)).find(Boolean);
  if (account) return account;
  throw new EmbeddedPostgresError(
    'PostgreSQL does not run as root and there is no account named postgres or nobody: run as an ordinary user, or set DATABASE_URL',
  );
}

/** The first directory on the way to `path` that keeps `account` out; undefined when there is none. */
export function barrier(path: string, account: Account): string | undefined {
  const way: string[] = [];
  for (let place = realpathSync(nearestExisting(path)); ; place = dirname(place)) {
    way.unshift(place);
    if (place === dirname(place)) break;
  }
  return way.find((place) => {
    const stats = statSync(place);
    return stats.isDirectory() && !may(account, stats, 0o1);
  });
}

/** Whether `account` has the permission `bits` (4 read, 2 write, 1 execute or search). It has no other groups. */
export function may(account: Account, stats: Stats, bits: number): boolean {
  const shift = stats.uid === account.uid ? 6 : stats.gid === account.gid ? 3 : 0;
  return ((stats.mode >> shift) & bits) === bits;
}

/** What child_process needs to run a program as `account`. The working directory must be one that it can enter. */
export function spawnAs(account: Account | undefined): { cwd?: string; uid?: number; gid?: number } {
  if (process.platform === 'win32') return {};
  // `| 0`: macOS has accounts with negative numbers, which stat reports as large ones.
  return account ? { cwd: '/', uid: account.uid | 0, gid: account.gid | 0 } : { cwd: '/' };
}

/** `path` itself, or the nearest directory above it that exists. */
export function nearestExisting(path: string): string {
  return existsSync(path) ? path : nearestExisting(dirname(path));
}

function systemAccounts(): Account[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 7)
    .map(([name, , uid, gid]) => ({ name: String(name), uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }));
}
