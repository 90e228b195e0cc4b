import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ApiKeysService, KeySettings } from '../../src/access/api-keys.service';
import { OrganizationsService } from '../../src/access/organizations.service';
import { createApp } from '../../src/app';
import { Config } from '../../src/config';
import type { Extension } from '../../src/extensions/extension';
import { createLog, type Log } from '../../src/observability/log';
import { ImportService } from '../../src/datasets/import.service';
import { runAtEnd } from './at-the-end';
import { deploymentUrl } from './deployment';
import { type DeploymentOperator, operatorOf, UNLIMITED_KEY_LIMITS } from './deployment-operator';
import { ApiClient } from './client';
import { createTestDatabase } from './database';
import { hasOracle, watchedUrl, watchRequests } from './oracle';

/** An organization of its own for a test, with a key that is not limited unless the test asks for it. */
export interface Tenant {
  organizationId: number;
  keyId: string;
  key: string;
  api: ApiClient;
  /** Fills what the API cannot write; gives the ids of the dataset's events by their refs. */
  import(dataset: object): Promise<Record<string, number>>;
  /** Another key of the same organization. */
  issueKey(settings: Partial<KeySettings>): Promise<{ id: string; key: string; api: ApiClient }>;
}

/** A running Lanyard: started for the suite on a database of its own, or the deployment at E2E_BASE_URL. */
export interface Lanyard {
  /** with the prefix of the API */
  baseUrl: string;
  /** a client without a key, or with one that is not to be trusted */
  client(key?: string): ApiClient;
  tenant(settings?: Partial<KeySettings>): Promise<Tenant>;
  stop(): Promise<void>;
}

export interface InProcess extends Lanyard {
  app: NestExpressApplication;
  config: Config;
}

/** A Lanyard that is starting, and an organization of its own on it. */
export async function withTenant<L extends Lanyard>(starting: Promise<L>): Promise<[L, Tenant]> {
  const lanyard = await starting;
  return [lanyard, await lanyard.tenant()];
}

export async function startLanyard(): Promise<Lanyard> {
  const baseUrl = deploymentUrl();
  return baseUrl ? lanyardAt(baseUrl, operatorOf(baseUrl), () => Promise.resolve()) : startInProcess();
}

export { UNLIMITED_KEY_LIMITS };

/** Instead of standard output, on which every suite of a process would leave a listener and a timer. */
const silence = (): Log => createLog('silent', { write: () => undefined });

/**
 * @param log where it is kept, when a suite wants to read it
 */
export async function startInProcess(
  overrides: Partial<Config> = {},
  log = silence(),
  extension: Extension = {},
): Promise<InProcess> {
  const database = overrides.databaseUrl ? undefined : await createTestDatabase();
  const config = new Config({
    databaseUrl: database?.url,
    redisUrl: process.env.REDIS_URL || undefined,
    logLevel: 'silent',
    authenticationFailures: 1_000_000,
    ...overrides,
  });
  const app = hasOracle ? await createWatchedApp(config, log) : await createApp(config, log, extension);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const operator: DeploymentOperator = {
    createOrganization: (name) => app.get(OrganizationsService).create(name),
    issueKey: (organizationId, settings) => app.get(ApiKeysService).issue(organizationId, settings),
    import: async (organizationId, dataset) => {
      const { ids } = await app.get(ImportService).import(organizationId, dataset);
      return ids as { events: Record<string, number> };
    },
  };
  const stop = runAtEnd(async () => {
    // A client may hold a connection that it never used: the server would wait for it until its headers are overdue.
    app.getHttpServer().closeAllConnections();
    await app.close();
    await database?.drop();
  });
  return { ...lanyardAt(`http://127.0.0.1:${port}/api/v0`, operator, stop), app, config };
}

/** `config` itself stays as it is: what a suite asks of the database behind the server's back is not watched. */
async function createWatchedApp(config: Config, log: Log): Promise<NestExpressApplication> {
  const app = await createApp(new Config({ ...config, databaseUrl: watchedUrl(config.databaseUrl ?? '') }), log);
  watchRequests(app.getHttpServer());
  return app;
}

function lanyardAt(baseUrl: string, operator: DeploymentOperator, stop: () => Promise<void>): Lanyard {
  const client = (key?: string): ApiClient => new ApiClient(baseUrl, key);
  const tenant = async (settings: Partial<KeySettings> = {}): Promise<Tenant> => {
    const { id: organizationId } = await operator.createOrganization('Test organization');
    const issueKey = async (wanted: Partial<KeySettings>) => {
      const { id, key } = await operator.issueKey(organizationId, wanted);
      return { id, key, api: client(key) };
    };
    const { id: keyId, key, api } = await issueKey({ ...UNLIMITED_KEY_LIMITS, ...settings });
    const load = async (dataset: object) => (await operator.import(organizationId, dataset)).events;
    return { organizationId, keyId, key, api, import: load, issueKey };
  };
  return { baseUrl, client, tenant, stop };
}
