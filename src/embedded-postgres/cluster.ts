import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  existsSync,
  fchownSync,
  lchownSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { closeSync, fsyncSync, renameSync } from 'node:fs';
import { rm, rmdir, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify, types } from 'node:util';
import { type Account, spawnAs } from './account';
import type { Binaries } from './binaries';
import type { DataDirectory } from './data-directory';
import { EmbeddedPostgresError } from './embedded-postgres-error';
import { programEnvironment } from './program-environment';
import { lastComplaint } from './server-log';

const run = promisify(execFile);

/** The one role of the embedded PostgreSQL, which owns everything in it. */
export const ROLE = 'lanyard';

/** Inside the cluster, so that a cluster and its password come into being together. */
const PASSWORD_FILE = 'lanyard.password';

/** Clusters being made, and what a crash left of them. */
const UNFINISHED = /^new-[0-9a-f-]{36}(\.password)?$/;

/**
 * Whether the data directory holds a cluster that a PostgreSQL of `major` can run.
 *
 * @throws EmbeddedPostgresError when it holds one of another major version, or something else.
 */
export function hasCluster({ path, cluster }: DataDirectory, major: number): boolean {
  if (!existsSync(cluster) || readdirSync(cluster).length === 0) return false;
  const file = join(cluster, 'PG_VERSION');
  if (!existsSync(file)) {
    throw new EmbeddedPostgresError(`${cluster} is not a PostgreSQL data directory; LANYARD_DATA_DIR names its place`);
  }
  const found = readFileSync(file, 'utf8').trim();
  if (found === String(major)) return true;
  throw new EmbeddedPostgresError(
    `${path} holds data of PostgreSQL ${found}, but this Lanyard brings PostgreSQL ${major}: set LANYARD_DATA_DIR to another directory and move the data with pg_dump`,
  );
}

/** @throws Error of the file system when the file is missing or belongs to another user. */
export function readPassword({ cluster }: DataDirectory): string {
  return readFileSync(join(cluster, PASSWORD_FILE), 'utf8').trim();
}

/**
 * Makes the cluster. It is made under a name of its own and renamed when it is whole, so a crash leaves nothing half
 * done, and of several processes that do this at once, exactly one wins; the others find its cluster.
 *
 * @param durable false saves the time to write to the disk for good (tests).
 * @throws EmbeddedPostgresError with initdb's complaint.
 */
export async function createCluster(directory: DataDirectory, binaries: Binaries, durable: boolean): Promise<void> {
  const { path, cluster, account } = directory;
  const unfinished = join(path, `new-${randomUUID()}`);
  const password = `${unfinished}.password`;
  try {
    mkdirSync(unfinished, { mode: 0o700 });
    // Not chown: it would follow a link that somebody put here meanwhile.
    if (account) lchownSync(unfinished, account.uid, account.gid);
    writePassword(password, account);
    await initdb(binaries, unfinished, password, account, durable);
    renameSync(password, join(unfinished, PASSWORD_FILE));
    sync(unfinished);
    renameSync(unfinished, cluster);
    sync(path);
  } catch (error) {
    if (!existsSync(join(cluster, 'PG_VERSION'))) {
      await remove([basename(unfinished), basename(password)], directory);
      throw error;
    }
    // Another process was faster.
  }
  // Also what another process is still at work on: it fails then, and finds the cluster that was faster.
  await remove(
    readdirSync(path).filter((name) => UNFINISHED.test(name)),
    directory,
  );
}

/** What cannot be removed stays until the next time: it does no harm. */
async function remove(names: string[], { path, account }: DataDirectory): Promise<void> {
  for (const name of names) {
    const victim = join(path, name);
    if (account) {
      // Root must not walk through a tree in which another account can swap a directory for a link.
      await run('rm', ['-rf', victim], { ...spawnAs(account), env: programEnvironment() }).catch(() => undefined);
      await (name.endsWith('.password') ? unlink(victim) : rmdir(victim)).catch(() => undefined);
    } else {
      await rm(victim, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
    }
  }
}

async function initdb(
  { initdb: program }: Binaries,
  cluster: string,
  passwordFile: string,
  account: Account | undefined,
  durable: boolean,
): Promise<void> {
  const parameters = [
    `--pgdata=${cluster}`,
    `--username=${ROLE}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    ...(durable ? [] : ['--no-sync']),
  ];
  try {
    await run(program, parameters, { ...spawnAs(account), env: programEnvironment(), windowsHide: true });
  } catch (error) {
    const stderr = types.isNativeError(error) && 'stderr' in error ? String(error.stderr) : '';
    const complaint = lastComplaint((stderr || String(error)).split('\n').filter((line) => line.trim() !== ''));
    throw new EmbeddedPostgresError(`The embedded PostgreSQL could not make its database: ${complaint}`, {
      cause: error,
    });
  }
}

function writePassword(path: string, account: Account | undefined): void {
  const file = openSync(path, 'wx', 0o600);
  writeFileSync(file, `${randomBytes(24).toString('base64url')}\n`);
  if (account) fchownSync(file, account.uid, account.gid);
  fsyncSync(file);
  closeSync(file);
}

/** Makes the names in a directory outlast a power failure. Windows has no such call. */
function sync(directory: string): void {
  if (process.platform === 'win32') return;
  const file = openSync(directory, 'r');
  fsyncSync(file);
  closeSync(file);
}
