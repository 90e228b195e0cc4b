import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres';
import { deploymentUrl } from './deployment';
import { prepareDeployment } from './deployment-run';
import { query } from './embedded-fixtures';
import { urlOf } from './database';
import { hasOracle } from './oracle';
import { armOracle } from './oracle-database';
import { migrate } from './contexts';

declare global {
  /** undoes what the set-up did; global-teardown.ts calls it */
  var tearDownTests: (() => Promise<void>) | undefined;
}

/**
 * Before all suites: a PostgreSQL server (DATABASE_URL's, or an embedded one in a temporary directory), and on it a
 * migrated template, of which each suite clones a database of its own. With LANYARD_TEST_ORACLE=rls the template has the
 * oracle of oracle.ts. For a deployment, deployment-run.ts has what there is to do.
 */
export default async function setUp(): Promise<void> {
  const baseUrl = deployment();
  if (baseUrl) {
    globalThis.tearDownTests = await prepareDeployment(baseUrl);
    return;
  }
  const { server, stop } = process.env.DATABASE_URL
    ? { server: process.env.DATABASE_URL, stop: () => Promise.resolve() }
    : await startServer();
  const undo: (() => Promise<unknown>)[] = [stop];
  globalThis.tearDownTests = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const template = `lanyard_template_${randomBytes(6).toString('hex')}`;
    await query(server, `create database ${template} template template0 encoding 'UTF8'`);
    undo.push(() => query(server, `drop database ${template} with (force)`));
    await migrate(urlOf(template, server));
    const oracle = hasOracle ? await armOracle(urlOf(template, server)) : undefined;
    if (oracle) {
      // Its role owns nothing once the template is gone.
      undo.splice(1, 0, () => query(server, `drop role ${oracle.role}`));
      process.env.LANYARD_TEST_ORACLE_LOGIN = `${oracle.role}:${oracle.password}`;
    }
    process.env.LANYARD_TEST_SERVER = server;
    process.env.LANYARD_TEST_TEMPLATE = template;
    process.env.LANYARD_TEST_SERVER_MAJOR = await majorOf(server);
  } catch (error) {
    // jest tears down only what was set up.
    await globalThis.tearDownTests();
    throw error;
  }
}

/** Settings that cannot work end the process with their line: jest would add where it was thrown. */
function deployment(): string | undefined {
  try {
    return deploymentUrl();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    return process.exit(1);
  }
}

async function majorOf(server: string): Promise<string> {
  const [row] = await query(server, "select current_setting('server_version_num')::integer / 10000 as major");
  return String(row?.major);
}

/**
 * Tests read what they wrote a moment ago; nobody needs it after a power failure. They open thousands of connections, each of
 * which would derive a key from the password in 4,096 rounds on both sides.
 */
async function startServer(): Promise<{ server: string; stop: () => Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'lanyard-test-'));
  // Root's PostgreSQL runs as somebody else, who must be able to pass.
  chmodSync(dataDir, 0o755);
  const postgres = await startEmbeddedPostgres({ dataDir: join(dataDir, 'data'), log: () => undefined });
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    await query(postgres.url, `alter system set ${setting} = off`);
  }
  await query(postgres.url, 'alter system set scram_iterations = 1');
  await query(postgres.url, 'select pg_reload_conf()');
  const { username, password } = new URL(postgres.url);
  await query(postgres.url, `set scram_iterations = 1; alter role "${username}" password '${password}'`);
  return {
    server: postgres.url,
    stop: async () => {
      await postgres.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
