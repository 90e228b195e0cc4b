import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error';

/** A system account that runs PostgreSQL in place of root. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** In order of preference: `nobody` is shared with unrelated daemons. initdb refuses a user id without a name. */
const UNPRIVILEGED = ['postgres', '_postgres', 'nobody'];

/**
 * The account that runs PostgreSQL on `cluster`, because PostgreSQL refuses to run as root: the owner of the cluster or
 * of the nearest directory above it, otherwise an unprivileged account of the system.
 *
 * @returns undefined when this process can run PostgreSQL itself: it is not root, or this is Windows.
 * @throws EmbeddedPostgresError when the system has no unprivileged account.
 */
export function accountFor(cluster: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = systemAccounts();
  const { uid, gid } = statSync(nearestExisting(cluster));
  const owner = uid === 0 ? undefined : accounts.find((account) => account.uid === uid);
  if (owner) return owner;
  if (uid !== 0 && existsSync(cluster)) return { name: `uid ${uid}`, uid, gid };
  const account = UNPRIVILEGED.map((name) => accounts.find((one) => one.name === name)).find(Boolean);
  if (account) return account;
  throw new EmbeddedPostgresError(
    'PostgreSQL does not run as root, and there is no account named postgres or nobody: run as an ordinary user, or set DATABASE_URL',
  );
}

/** What child_process needs to run one of PostgreSQL's programs as `account`. */
export function spawnAs(account: Account | undefined) {
  // Other variables would change PostgreSQL (PGPORT, LC_ALL) or show it secrets.
  const { PATH, LD_LIBRARY_PATH, TMPDIR, TEMP, TMP, SYSTEMROOT, WINDIR, COMSPEC } = process.env;
  const env = { PATH, LD_LIBRARY_PATH, TMPDIR, TEMP, TMP, SYSTEMROOT, WINDIR, COMSPEC, LC_ALL: 'C', TZ: 'UTC' };
  if (process.platform === 'win32') return { env };
  // The account may not be able to enter this process's directory.
  // `| 0`: macOS has accounts with negative ids, which stat reports as large ones.
  return { env, cwd: '/', ...(account && { uid: account.uid | 0, gid: account.gid | 0 }) };
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
