import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error';
import { type Account, Programs } from './programs';

/**
 * Where root keeps what PostgreSQL's account cannot reach in place, because a directory above it is closed to others, as
 * /root is. Only root can write there, so nobody can plant programs or data; in /tmp, anybody could.
 */
export const SYSTEM_DIR = '/var/lib/lanyard';

/** The file in a directory of SYSTEM_DIR that holds the path of the link to it. */
const LINK_RECORD = 'linked-from';

export interface DataDirOptions {
  readonly dataDir: string;
  /** Whether nobody chose the directory, so that it may be a link to one that PostgreSQL's account can reach. */
  readonly isDefaultDir?: boolean;
  /** Where root keeps what the account cannot reach in place; SYSTEM_DIR, except in tests. */
  readonly systemDir?: string;
  readonly log: (line: string) => void;
}

/** Whether the account may enter a directory or run a program. */
const canAccess = (account: Account, path: string): boolean =>
  spawnSync('test', ['-x', path], new Programs(account, '').options).status === 0;

/**
 * Creates the data directory if it does not exist.
 * @returns its real path, so that every process uses the same name
 * @throws EmbeddedPostgresError if it exists and cannot be reached, because a new one would look like lost data
 */
export function prepareDataDir(options: DataDirOptions, account: Account | undefined): string {
  const { dataDir, isDefaultDir } = options;
  const entry = fs.lstatSync(dataDir, { throwIfNoEntry: false });
  if (entry?.isSymbolicLink()) requireOwnTarget(dataDir, account);
  else if (!entry && account && isDefaultDir && !canAccess(account, dirname(dataDir)))
    inSystemDir(account, dataDir, () => linkDataDir(options, account));
  // Root owns the directory, so that nothing can be planted in it; the account owns only the cluster inside.
  const created = fs.mkdirSync(dataDir, { recursive: true, mode: account ? 0o711 : 0o700 });
  const path = fs.realpathSync(dataDir);
  if (!account || canAccess(account, path)) return path;
  // Left behind, it would be a directory that exists and cannot be reached.
  if (created) fs.rmdirSync(path);
  throw closedError(account, path, ', or set LANYARD_DATA_DIR to a directory that others may enter.');
}

/** The programs in node_modules or, if the account cannot reach them there, a copy in the system directory. */
export function reachablePrograms(
  account: Account | undefined,
  systemDir = SYSTEM_DIR,
  installed = new Programs(account),
): Programs {
  if (!account || canAccess(account, installed.file('postgres'))) return installed;
  const { version } = JSON.parse(fs.readFileSync(join(installed.root, 'package.json'), 'utf8')) as { version: string };
  const copy = join(systemDir, `programs-${version}`);
  inSystemDir(account, installed.file('postgres'), () => {
    if (!fs.existsSync(copy)) copyPrograms(installed.root, copy, systemDir);
  });
  const programs = new Programs(account, copy);
  if (canAccess(account, programs.file('postgres'))) return programs;
  throw closedError(account, programs.file('postgres'));
}

/** Copies the package under a temporary name and then renames it, so that it is complete or absent. */
function copyPrograms(source: string, target: string, systemDir: string): void {
  prepareSystemDir(systemDir);
  const folder = fs.mkdtempSync(join(systemDir, 'new-'));
  try {
    fs.cpSync(source, folder, { recursive: true, verbatimSymlinks: true });
    // npm ran with root's umask, which may have closed them to others.
    execFileSync('chmod', ['-R', 'u=rwX,go=rX', folder]);
    fs.renameSync(folder, target);
  } catch (error) {
    if (!fs.existsSync(target)) throw error; // otherwise another process was faster
  } finally {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Makes a new directory in the system directory, and a link to it. */
function linkDataDir({ dataDir, systemDir = SYSTEM_DIR, log }: DataDirOptions, account: Account): void {
  prepareSystemDir(systemDir);
  const target = fs.mkdtempSync(join(systemDir, 'data-'));
  try {
    fs.chmodSync(target, 0o711);
    fs.writeFileSync(join(target, LINK_RECORD), dataDir);
    fs.symlinkSync(target, dataDir);
    log(`${dataDir} is a link to ${target}, because user ${account.uid} cannot enter ${dirname(dataDir)}`);
  } catch (error) {
    fs.rmSync(target, { recursive: true });
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // otherwise another process was faster
  }
}

/**
 * Two checkouts must never share a database, and a copy of one has a copy of its link. The link that the directory was made
 * for is the one that counts, as long as it is there; a link that was moved takes its place.
 * @throws EmbeddedPostgresError if the link is a copy, or leads nowhere
 */
function requireOwnTarget(link: string, account: Account | undefined): void {
  const target = fs.readlinkSync(link);
  if (!fs.existsSync(link)) {
    throw new EmbeddedPostgresError(
      `${link} is a link to ${target}, which does not exist. Restore that directory, or remove the link to begin with a new database.`,
    );
  }
  const record = join(fs.realpathSync(link), LINK_RECORD);
  if (!account || !fs.existsSync(record)) return;
  const first = fs.readFileSync(record, 'utf8');
  // The same link may be reached by two paths.
  const isCopy = fs.existsSync(first) && fs.realpathSync(first) === fs.realpathSync(link) && !isSameFile(first, link);
  if (isCopy) {
    throw new EmbeddedPostgresError(
      `${link} is a copy of the link ${first}, and two installations cannot share a database. Remove the copy to begin with a new database.`,
    );
  }
  fs.writeFileSync(record, link);
}

function isSameFile(path: string, otherPath: string): boolean {
  const [one, other] = [fs.lstatSync(path), fs.lstatSync(otherPath)];
  return one.ino === other.ino && one.dev === other.dev;
}

/** @throws Error if another user could replace what is in it */
function prepareSystemDir(path: string): void {
  if (fs.mkdirSync(path, { recursive: true })) fs.chmodSync(path, 0o755);
  const { uid, mode } = fs.statSync(path);
  if (uid !== 0 || mode & 0o022) throw new Error(`${path} does not belong to root alone`);
}

/** Does what the system directory is for. @throws EmbeddedPostgresError that names the path that stays closed, if it fails */
function inSystemDir(account: Account, closed: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw closedError(account, closed, `. To keep it elsewhere failed: ${(error as Error).message}`, error);
  }
}

const closedError = (account: Account, path: string, ending = '.', cause?: unknown): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    `PostgreSQL cannot run as root. It would run as user ${account.uid}, who cannot access ${path}. Run Lanyard as an ordinary user, or make the directories above it accessible (chmod a+x)${ending}`,
    { cause },
  );
