import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { Client } from 'pg';
import { version } from '../../package.json';
import { clusterPath } from '../data/embedded-postgres/cluster';
import { copyCluster } from '../data/embedded-postgres/copy-cluster';
import { startEmbeddedPostgres } from '../data/embedded-postgres/embedded-postgres';
import { migrate } from '../data/schema/migrate';
import type { SchemaDefinition } from '../data/schema/schema-definition';
import { cleanUpAfterProcess } from './clean-up';

/** A database, which `drop` removes. */
export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

const silent = (): void => undefined;

/** Durability is off, because nobody needs the data of a test after a power failure. */
const DURABILITY_SETTINGS = ['fsync', 'synchronous_commit', 'full_page_writes'];

/**
 * Creates a migrated database for one test server.
 * @param serverUrl a PostgreSQL server whose role may create databases; without it, an embedded one is started for this
 *   database
 */
export async function createTestDatabase(schema: SchemaDefinition, serverUrl?: string): Promise<TestDatabase> {
  const database = await (serverUrl === undefined ? startTemporaryPostgres() : createDatabase(serverUrl));
  try {
    await migrate(database.url, schema);
    return database;
  } catch (error) {
    await database.drop();
    throw error;
  }
}

/**
 * Creates a database on a server.
 * @param template the database to copy, and options of SQL's `create database`; by default the new database is empty
 */
export async function createDatabase(serverUrl: string, template = "template0 encoding 'UTF8'"): Promise<TestDatabase> {
  const name = `lanyard_${randomBytes(6).toString('hex')}`;
  await query(serverUrl, `create database ${name} template ${template}`);
  return {
    url: Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href,
    drop: async () => void (await query(serverUrl, `drop database if exists ${name} with (force)`)),
  };
}

/** Starts an embedded PostgreSQL in a temporary directory. `drop` stops it and removes the directory. */
export async function startTemporaryPostgres(): Promise<TestDatabase> {
  const folder = join(realpathSync(tmpdir()), `lanyard-testing-${randomBytes(6).toString('hex')}`);
  const dataDir = join(folder, 'data');
  // Before there is a directory, because the process may be killed at any time.
  const endCleanUp = cleanUpAfterProcess(folder, clusterPath(dataDir));
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    endCleanUp();
  };
  try {
    mkdirSync(folder, { mode: 0o700 });
    // The account that runs PostgreSQL in place of root must reach its data.
    if (process.getuid?.() === 0) chmodSync(folder, 0o755);
    await prepareData(dataDir);
    const postgres = await startEmbeddedPostgres({ dataDir, log: silent });
    const drop = async (): Promise<void> => {
      await postgres.stop();
      remove();
    };
    return { url: postgres.url, drop };
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * Puts the data of a PostgreSQL into a directory, from the template if there is one. A template has no migrations, because
 * Lanyard's own cannot run alone in a process that has an extension's lists.
 */
async function prepareData(dataDir: string): Promise<void> {
  const template = findTemplate();
  try {
    return await copyCluster(template, dataDir);
  } catch {
    // The template is optional: it may belong to another user, and node_modules may be read-only.
  }
  const postgres = await startEmbeddedPostgres({ dataDir, log: silent });
  try {
    for (const setting of DURABILITY_SETTINGS) await query(postgres.url, `alter system set ${setting} = off`);
    // Tests open thousands of connections. Each of them would derive a key from the password in 4,096 rounds on both sides.
    await query(postgres.url, 'alter system set scram_iterations = 1');
    const { username, password } = new URL(postgres.url);
    await query(postgres.url, `set scram_iterations = 1; alter role "${username}" password '${password}'`);
  } finally {
    await postgres.stop();
  }
  await copyCluster(dataDir, template).catch(() => undefined);
}

/** The directory of the template, in node_modules/.cache. */
function findTemplate(): string {
  const [project = ''] = require.resolve('typeorm').split(`${sep}node_modules${sep}`);
  return join(
    project,
    'node_modules',
    '.cache',
    'lanyard',
    `postgresql-${version}-${process.platform}-${process.arch}`,
  );
}

/** Runs statements on a connection of their own. @returns the rows of the last one, if there is only one */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  // If PostgreSQL ends, the query fails. Without a listener, the event would end the process, too.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
