import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { ApiKeysService, KeySettings } from '../../src/access/api-keys.service';
import { OrganizationsService } from '../../src/access/organizations.service';
import { Config } from '../../src/config';
import type { Extension } from '../../src/extensions/extension';
import { createLog, type Log } from '../../src/observability/log';
import { ImportService } from '../../src/exchange/datasets/import.service';
import { GENEROUS_LIMITS, startOnDatabase } from '../../src/testing/test-lanyard';
import { runAtEnd } from './jest/at-the-end';
import { deploymentUrl } from './deployment/deployment';
import { type DeploymentOperator, operatorOf } from './deployment/deployment-operator';
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
  app: INestApplication;
  config: Config;
}

/** A Lanyard that is starting, and an organization of its own on it. */
export async function withTenant<L extends Lanyard>(starting: Promise<L>): Promise<[L, Tenant]> {
  const lanyard = await starting;
  return [lanyard, await lanyard.tenant()];
}

export async function startLanyard(): Promise<Lanyard> {
  const baseUrl = deploymentUrl();
  // A delivery reads for any organization, and no suite of clients waits for one.
  return baseUrl
    ? lanyardAt(baseUrl, operatorOf(baseUrl), () => Promise.resolve())
    : startInProcess({ webhooks: 'off' });
}

/** Instead of standard output, on which every suite of a process would leave a listener and a timer. */
const silence = (): Log => createLog('silent', { write: () => undefined });

/**
 * @param overrides a database in them is that of another server, or of a suite, and stays
 * @param log where it is kept, when a suite wants to read it
 */
export async function startInProcess(
  overrides: Partial<Config> = {},
  log = silence(),
  extension: Extension = {},
): Promise<InProcess> {
  const { databaseUrl } = overrides;
  const { url, drop } = databaseUrl ? { url: databaseUrl, drop: () => Promise.resolve() } : await createTestDatabase();
  const settings = {
    redisUrl: process.env.REDIS_URL || undefined,
    logLevel: 'silent',
    apiWebhookPrivate: 'on',
    ...overrides,
  } as const;
  const database = { url: hasOracle ? watchedUrl(url) : url, drop };
  const { url: baseUrl, app, stop } = await startOnDatabase(database, settings, log, extension);
  if (hasOracle) watchRequests(app.getHttpServer() as Server);
  const operator: DeploymentOperator = {
    createOrganization: (name) => app.get(OrganizationsService).create(name),
    issueKey: (organizationId, settings) => app.get(ApiKeysService).issue(organizationId, settings),
    import: async (organizationId, dataset) => {
      const { ids } = await app.get(ImportService).import(organizationId, dataset);
      return ids as { events: Record<string, number> };
    },
  };
  // What a suite asks of the database behind the server's back is not watched.
  const config = new Config({ ...app.get(Config), databaseUrl: url });
  return { ...lanyardAt(baseUrl, operator, runAtEnd(stop)), app, config };
}

function lanyardAt(baseUrl: string, operator: DeploymentOperator, stop: () => Promise<void>): Lanyard {
  const client = (key?: string): ApiClient => new ApiClient(baseUrl, key);
  const tenant = async (settings: Partial<KeySettings> = {}): Promise<Tenant> => {
    const { id: organizationId } = await operator.createOrganization('Test organization');
    const issueKey = async (wanted: Partial<KeySettings>) => {
      const { id, key } = await operator.issueKey(organizationId, wanted);
      return { id, key, api: client(key) };
    };
    const { id: keyId, key, api } = await issueKey({ ...GENEROUS_LIMITS, ...settings });
    const load = async (dataset: object) => (await operator.import(organizationId, dataset)).events;
    return { organizationId, keyId, key, api, import: load, issueKey };
  };
  return { baseUrl, client, tenant, stop };
}
