import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { explainError } from './embedded-postgres-error';
import type { Programs } from './programs';

/** The only role of the embedded PostgreSQL, which owns everything in it, and the name of the service's database. */
export const DATABASE_NAME = 'lanyard';

/** PostgreSQL's own UTF-8 locale is the same on every machine. */
const LOCALE = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];

/** PostgreSQL's own data directory. */
export const clusterPath = (dataDir: string): string => join(dataDir, 'postgresql');

const passwordIn = (cluster: string): string => join(cluster, 'lanyard.password');
export const readPassword = (cluster: string): string => fs.readFileSync(passwordIn(cluster), 'utf8').trim();

/** The major version of the PostgreSQL data in the directory; undefined if there is none yet. */
export function majorVersionOf(dataDir: string): string | undefined {
  try {
    return fs.readFileSync(join(clusterPath(dataDir), 'PG_VERSION'), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw explainError(error, dataDir);
  }
}

/**
 * Lets a cluster be made in a temporary directory, which it then leaves, so that it is complete or absent, and the first of
 * several processes wins.
 */
export async function placeCluster(dataDir: string, make: (folder: string) => Promise<void>): Promise<void> {
  const folder = fs.mkdtempSync(join(dataDir, 'new-'));
  try {
    await make(folder);
    fs.renameSync(clusterPath(folder), clusterPath(dataDir));
  } catch (error) {
    if (!majorVersionOf(dataDir)) throw error; // otherwise another process was faster
  } finally {
    await fs.promises.rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Creates the cluster with its role, password and database. */
export const createCluster = (dataDir: string, programs: Programs): Promise<void> =>
  placeCluster(dataDir, async (folder) => {
    const { account } = programs;
    const [cluster, password] = [clusterPath(folder), join(folder, 'password')];
    fs.writeFileSync(password, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
    if (account) for (const each of [password, folder]) fs.lchownSync(each, account.uid, account.gid);
    const login = [`--username=${DATABASE_NAME}`, `--pwfile=${password}`, '--auth=scram-sha-256'];
    await programs.run('initdb', [`--pgdata=${cluster}`, ...login, ...LOCALE]);
    const alone = ['--single', '-D', cluster, '-c', 'exit_on_error=on', 'postgres'];
    await programs.run('postgres', alone, `create database ${DATABASE_NAME}\n`);
    fs.renameSync(password, passwordIn(cluster));
  });
