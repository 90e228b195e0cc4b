import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, lchownSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify, types } from 'node:util';
import { spawnAs } from './account';
import type { DataDirectory } from './data-directory';
import { complaintIn, EmbeddedPostgresError } from './embedded-postgres-error';

const run = promisify(execFile);

/** The only role of the embedded PostgreSQL, which owns everything in it. */
export const ROLE = 'lanyard';

/** The database of the service. */
export const DATABASE = 'lanyard';

const PASSWORD_FILE = 'lanyard.password';

/** PostgreSQL's own UTF-8 locale is the same on every machine. */
const LOCALE = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];

/**
 * Whether the data directory holds a cluster that a PostgreSQL of `major` can run.
 *
 * @throws EmbeddedPostgresError when it holds one of another major version.
 */
export function hasCluster({ path, cluster }: DataDirectory, major: string): boolean {
  const file = join(cluster, 'PG_VERSION');
  if (!existsSync(file)) return false;
  const found = readFileSync(file, 'utf8').trim();
  if (found === major) return true;
  throw new EmbeddedPostgresError(
    `${path} holds data of PostgreSQL ${found}, but this Lanyard brings PostgreSQL ${major}: set LANYARD_DATA_DIR to another directory and move the data with pg_dump`,
  );
}

/** @throws Error of the file system when the file is missing or belongs to another user. */
export function readPassword(cluster: string): string {
  return readFileSync(join(cluster, PASSWORD_FILE), 'utf8').trim();
}

/**
 * Makes the cluster with its role, password and database, under a temporary name, and renames it: it is whole or absent,
 * and the first of several processes wins.
 *
 * @param durable false saves the time to write to the disk for good (tests).
 * @throws EmbeddedPostgresError with PostgreSQL's complaint.
 */
export async function createCluster(
  { path, cluster, account }: DataDirectory,
  programs: string,
  durable: boolean,
): Promise<void> {
  const folder = mkdtempSync(join(path, 'new-'));
  const unfinished = join(folder, 'postgresql');
  const password = join(folder, 'password');
  try {
    writeFileSync(password, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
    if (account) for (const each of [password, folder]) lchownSync(each, account.uid, account.gid);
    const place = [`--pgdata=${unfinished}`, `--username=${ROLE}`, `--pwfile=${password}`, '--auth=scram-sha-256'];
    await run(join(programs, 'initdb'), [...place, ...LOCALE, ...(durable ? [] : ['--no-sync'])], spawnAs(account));
    const alone = ['--single', '-D', unfinished, '-c', 'exit_on_error=on', ...(durable ? [] : ['-F']), 'postgres'];
    const running = run(join(programs, 'postgres'), alone, spawnAs(account));
    running.child.stdin?.end(`create database ${DATABASE}\n`);
    await running;
    renameSync(password, join(unfinished, PASSWORD_FILE));
    renameSync(unfinished, cluster);
  } catch (error) {
    if (existsSync(join(cluster, 'PG_VERSION'))) return; // another process was faster
    if (!types.isNativeError(error) || !('stderr' in error)) throw error;
    const complaint = complaintIn(String(error.stderr || error));
    throw new EmbeddedPostgresError(`The embedded PostgreSQL could not make its database: ${complaint}`, {
      cause: error,
    });
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
