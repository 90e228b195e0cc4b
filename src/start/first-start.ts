import type { Server } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EntityManager } from 'typeorm';
import { ApiKeysService, type IssuedKey } from '../access/api-keys.service';
import { OrganizationsService } from '../access/organizations.service';
import { Config, PREFIX } from '../config';
import { Transactions } from '../data/database/transactions';
import { isLogFile } from '../observability/log';
import type { OpenDatabase } from '../data/schema/open';
import { ImportService } from '../exchange/datasets/import.service';
import { DEMO_RECORDS } from '../operator/demo/demo';

/**
 * What a client needs to connect. The key and its organization are null unless this start has created the demo organization.
 */
export interface Welcome {
  url: string;
  key: string | null;
  organizationId: number | null;
}

/** The URL at which this machine reaches a server that listens on the address. */
export function originOf({ address, port }: Pick<AddressInfo, 'address' | 'port'>): string {
  const isLocal = ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(address);
  if (isLocal) return `http://localhost:${port}`;
  return isIPv6(address) ? `http://[${address}]:${port}` : `http://${address}:${port}`;
}

/**
 * Prints where the server is and how to get a first response. The first start on the embedded PostgreSQL creates a
 * demo organization and prints its key, which cannot be shown again because only its hash is stored.
 * @param commandName how the command line is called, for hints
 */
export async function printWelcome(
  app: INestApplication,
  config: Config,
  database: OpenDatabase,
  commandName: string,
  log: (line: string) => void,
): Promise<Welcome> {
  const issueKey = (id: number | string): string => `${commandName} keys issue --organization ${id}`;
  const origin = originOf((app.getHttpServer() as Server).address() as AddressInfo);
  const baseUrl = `${origin}/${PREFIX}`;
  log(`Lanyard is listening on ${baseUrl}`);
  log(`API reference: ${origin}/docs`);
  const organizations = app.get(OrganizationsService);
  // The server keeps running if the database is unreachable at this moment.
  const isFirstStart = await organizations.isEmpty().catch(() => false);
  const demo = isFirstStart && database.isEmbedded && config.demo === 'on' ? await createDemo(database.url) : undefined;
  if (!demo) {
    const hint = isFirstStart ? 'run "organizations create" first' : 'run "organizations list" for the IDs';
    log(`To issue an API key: ${issueKey('ID')} (${hint})`);
  } else if (isLogFile()) {
    log(`The key of the demo organization is not written to a file. To issue one: ${issueKey(demo.organizationId)}`);
  } else {
    log('Try a first request. This key of the demo organization is shown only once:');
    log(`  export LANYARD_URL=${baseUrl}`);
    log(`  export LANYARD_KEY=${demo.key}`);
    log('  curl -H "x-api-key: $LANYARD_KEY" "$LANYARD_URL/leads?limit=1"');
  }
  return { url: baseUrl, key: demo?.key ?? null, organizationId: demo?.organizationId ?? null };
}

/**
 * Creates the demo organization with its records and a key, in one transaction, so that an interrupted start leaves it to
 * the next one.
 * @returns the key, or undefined if another process that started at the same time has created an organization
 */
export async function createDemo(databaseUrl: string): Promise<IssuedKey | undefined> {
  // The operator's services have no timeouts, because disks can be slow. Only the first start loads them.
  const { OperatorModule } = module.require(
    '../operator/operator.module',
  ) as typeof import('../operator/operator.module');
  const root = OperatorModule.with(new Config({ databaseUrl }));
  const services = await NestFactory.createApplicationContext(root, { abortOnError: false });
  try {
    const organizations = services.get(OrganizationsService);
    return await services.get(Transactions).run(async () => {
      await services.get(EntityManager).query('lock table organizations in share row exclusive mode');
      if (!(await organizations.isEmpty())) return undefined;
      const { id } = await organizations.create('Demo');
      await services.get(ImportService).import(id, DEMO_RECORDS);
      return services.get(ApiKeysService).issue(id, { label: 'demo' });
    });
  } finally {
    await services.close();
  }
}
