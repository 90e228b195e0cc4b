import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type INestApplication, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApiKeysService, type IssuedKey, type KeySettings } from '../access/api-keys.service';
import { OrganizationsService } from '../access/organizations.service';
import { createApp } from '../app';
import { Config, type LogLevel, PREFIX } from '../config';
import { ImportService } from '../exchange/datasets/import.service';
import { type Extension, extensionSchema } from '../extensions/extension';
import { requireSingleInstances } from '../extensions/single-instance';
import { createLog, type Log } from '../observability/log';
import { listen } from '../http/server/listen';
import { emptyOrganizations } from './reset';
import { createTestDatabase, type TestDatabase } from './test-database';

/** Limits of a key that tests do not reach. */
export const GENEROUS_LIMITS = { maxTokens: 1_000_000, refillRate: 1_000_000 };

/** Settings of all test servers: a free port of this machine, and clients that may present many wrong keys. */
const TEST_SETTINGS = { host: '127.0.0.1', port: 0, authenticationFailures: 1_000_000 };

export interface TestOptions {
  /** The extension of the project. */
  extension?: Extension;
  /**
   * Connection string of a PostgreSQL server whose role may create databases. The test server creates its own database there,
   * and `stop` drops it. By default, an embedded PostgreSQL is started in a temporary directory.
   */
  databaseUrl?: string;
  /** The TCP port to listen on. By default, a free port is chosen. */
  port?: number;
  /** The minimum level of log entries, which are written to standard error. The default is `error`. */
  logLevel?: LogLevel;
}

/** An organization of a test server. */
export interface TestOrganization {
  id: number;
  name: string;
  /** An API key with limits that tests do not reach. */
  key: string;
  /** Issues another key. Settings that are left out have the defaults of `lanyard keys issue`. */
  issueKey(settings?: TestKeySettings): Promise<IssuedKey>;
  /** Imports a dataset, which is one object of sections, as the command `import` does. @returns the number of records by section */
  import(records: object): Promise<Record<string, number>>;
}

/** Settings of a key: its label, its burst, its tokens per second, and when it expires. */
export type TestKeySettings = Partial<Pick<KeySettings, 'label' | 'maxTokens' | 'refillRate' | 'expiresAt' | 'scope'>>;

/** The name of an organization, and what its first key may do. */
export interface TestOrganizationOptions {
  name?: string;
  scope?: KeySettings['scope'];
}

/** A Lanyard server for tests, with a database of its own. Requests can ask for simulated faults. */
export interface TestLanyard {
  /** Base URL of the API, including its prefix, such as `http://127.0.0.1:40123/api/v0`. */
  url: string;
  /** The Nest application of the server: `app.get(HallsService)`. */
  app: INestApplication;
  /** Creates an organization with a key. Without a name it is called `Test organization`, and the key may do everything. */
  createOrganization(options?: string | TestOrganizationOptions): Promise<TestOrganization>;
  /** Empties all organizations, and the shared catalog of industry events. Organizations and keys stay. */
  reset(): Promise<void>;
  /** Stops the server and removes its database. */
  stop(): Promise<void>;
}

/** Starts a server on a free port of this machine, in this process. */
export async function startLanyard(options: TestOptions = {}): Promise<TestLanyard> {
  const { extension = {}, databaseUrl, port = 0, logLevel = 'error' } = options;
  // Nothing is logged until the application has its own logger.
  Logger.overrideLogger(false);
  requireSingleInstances(join(process.cwd(), 'package.json'));
  const database = await createTestDatabase(extensionSchema(extension), databaseUrl);
  const log = createLog(logLevel, { write: (line) => void process.stderr.write(line) });
  return startOnDatabase(database, { port, logLevel, simulate: 'on' }, log, extension);
}

/**
 * Starts a server on a database, which is dropped when the server stops, or does not start.
 * @param settings those that differ from a test server's
 */
export async function startOnDatabase(
  database: TestDatabase,
  settings: Partial<Config>,
  log: Log,
  extension: Extension = {},
): Promise<TestLanyard> {
  let app: INestApplication | undefined;
  try {
    const config = new Config({ ...TEST_SETTINGS, ...settings, databaseUrl: database.url });
    app = await createApp(config, log, extension);
    await app.init();
    await listen(app.getHttpServer() as Server, config, '--port');
    return testLanyard(app, database.drop);
  } catch (error) {
    await app?.close();
    await database.drop();
    throw error;
  }
}

function testLanyard(app: INestApplication, dropDatabase: () => Promise<void>): TestLanyard {
  const server = app.getHttpServer() as Server;
  const { port } = server.address() as AddressInfo;
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    // The server would wait for connections that a client keeps open.
    server.closeAllConnections();
    await app.close();
    await dropDatabase();
  };
  return {
    url: `http://127.0.0.1:${port}/${PREFIX}`,
    app,
    createOrganization: (options = {}) =>
      createOrganization(app, typeof options === 'string' ? { name: options } : options),
    reset: () => emptyOrganizations(app.get(DataSource)),
    stop: () => (stopped ??= stop()),
  };
}

async function createOrganization(
  app: INestApplication,
  { name = 'Test organization', scope }: TestOrganizationOptions,
): Promise<TestOrganization> {
  const { id } = await app.get(OrganizationsService).create(name);
  const issueKey = (settings?: TestKeySettings): Promise<IssuedKey> => app.get(ApiKeysService).issue(id, settings);
  const { key } = await issueKey({ ...GENEROUS_LIMITS, ...(scope && { scope }) });
  const importRecords = async (records: object): Promise<Record<string, number>> =>
    (await app.get(ImportService).import(id, records)).imported;
  return { id, name, key, issueKey, import: importRecords };
}
