import { createDatabase, query, startTemporaryPostgres } from '../../../src/testing/test-database';
import { deploymentUrl } from '../deployment/deployment';
import { prepareDeployment } from '../deployment/deployment-run';
import { keepTemporaryFilesInMemory } from './memory-folder';
import { hasOracle } from '../oracle';
import { armOracle } from '../oracle-database';
import { migrate } from '../contexts';
import { EMPTY_DATABASE } from '../locale';

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
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // Jest itself would end at once, and leave PostgreSQL, its files, or the records in a deployment.
    process.once(signal, () => {
      const tornDown = globalThis.tearDownTests?.() ?? Promise.resolve();
      void tornDown.finally(() => process.exit(signal === 'SIGINT' ? 130 : 143));
    });
  }
  const baseUrl = deployment();
  if (baseUrl) {
    globalThis.tearDownTests = await prepareDeployment(baseUrl);
    return;
  }
  const undo: (() => unknown)[] = [keepTemporaryFilesInMemory()];
  globalThis.tearDownTests = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const { DATABASE_URL } = process.env;
    const server = DATABASE_URL ? { url: DATABASE_URL, drop: () => undefined } : await startTemporaryPostgres();
    undo.push(server.drop);
    const template = await createDatabase(server.url, EMPTY_DATABASE);
    undo.push(template.drop);
    await migrate(template.url);
    const oracle = hasOracle ? await armOracle(template.url) : undefined;
    if (oracle) {
      // Its role owns nothing once the template is gone.
      undo.splice(-1, 0, () => query(server.url, `drop role ${oracle.role}`));
      process.env.LANYARD_TEST_ORACLE_LOGIN = `${oracle.role}:${oracle.password}`;
    }
    process.env.LANYARD_TEST_SERVER = server.url;
    process.env.LANYARD_TEST_TEMPLATE = new URL(template.url).pathname.slice(1);
    process.env.LANYARD_TEST_SERVER_MAJOR = await majorOf(server.url);
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
