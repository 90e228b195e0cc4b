import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { Client } from 'pg';
import { version } from '../../package.json';
import { clusterPath } from '../embedded-postgres/cluster';
import { copyCluster } from '../embedded-postgres/copy-cluster';
import { startEmbeddedPostgres } from '../embedded-postgres/embedded-postgres';
import { migrate } from '../schema/migrate';
import type { SchemaDefinition } from '../schema/schema-definition';
import { cleanUpAfterProcess } from './clean-up';

/** A migrated database, which `drop` removes. */
export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

const silent = (): void => undefined;

/** Durability is off, because nobody needs the data of a test after a power failure. */
const DURABILITY_SETTINGS = ['fsync', 'synchronous_commit', 'full_page_writes'];

/**
 * Creates a database for one test server.
 * @param serverUrl a PostgreSQL server whose role may create databases; without it, an embedded one is started for this
 *   database
 */
export function createTestDatabase(schema: SchemaDefinition, serverUrl?: string): Promise<TestDatabase> {
  return serverUrl === undefined ? startTemporaryPostgres(schema) : createDatabaseOn(serverUrl, schema);
}

async function createDatabaseOn(serverUrl: string, schema: SchemaDefinition): Promise<TestDatabase> {
  const name = `lanyard_${randomBytes(6).toString('hex')}`;
  const drop = (): Promise<void> => query(serverUrl, `drop database if exists ${name} with (force)`);
  await query(serverUrl, `create database ${name} template template0 encoding 'UTF8'`);
  const url = Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
  try {
    await migrate(url, schema);
  } catch (error) {
    await drop();
    throw error;
  }
  return { url, drop };
}

async function startTemporaryPostgres(schema: SchemaDefinition): Promise<TestDatabase> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'lanyard-testing-')));
  const dataDir = join(folder, 'data');
  const endCleanUp = cleanUpAfterProcess(folder, clusterPath(dataDir));
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    endCleanUp();
  };
  try {
    // The account that runs PostgreSQL in place of root must reach its data.
    if (process.getuid?.() === 0) chmodSync(folder, 0o755);
    await prepareData(dataDir);
    const postgres = await startEmbeddedPostgres({ dataDir, log: silent });
    const drop = async (): Promise<void> => {
      await postgres.stop();
      remove();
    };
    try {
      await migrate(postgres.url, schema);
    } catch (error) {
      await drop();
      throw error;
    }
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
  // The template is optional: it may belong to another user, and node_modules may be read-only.
  const isCopied = await copyCluster(template, dataDir).then(
    () => true,
    () => false,
  );
  if (isCopied) return;
  const postgres = await startEmbeddedPostgres({ dataDir, log: silent });
  try {
    for (const setting of DURABILITY_SETTINGS) await query(postgres.url, `alter system set ${setting} = off`);
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

async function query(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
