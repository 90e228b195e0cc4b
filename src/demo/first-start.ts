import type { Server } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EntityManager } from 'typeorm';
import { ApiKeysService, type IssuedKey } from '../access/api-keys.service';
import { OrganizationsService } from '../access/organizations.service';
import { Config, PREFIX } from '../config';
import { Transactions } from '../database/transactions';
import type { OpenDatabase } from '../schema/open';
import { ImportService } from '../datasets/import.service';
import { demo as demoRecords } from './demo';
import { DemoModule } from './demo.module';
import { PROGRAM } from '../server/command-name';

/** The URL of a server that listens at an address, as it is written on this machine. */
export function originOf({ address, port }: Pick<AddressInfo, 'address' | 'port'>): string {
  const isLocal = ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(address);
  return `http://${isLocal ? 'localhost' : isIPv6(address) ? `[${address}]` : address}:${port}`;
}

const ISSUE_A_KEY = `${PROGRAM} keys issue --organization ID`;

/**
 * Prints where the server is and how to get a first response. The first start on the embedded PostgreSQL makes a demo
 * organization, and shows its key, which is stored nowhere.
 */
export async function welcome(
  app: INestApplication,
  config: Config,
  database: OpenDatabase,
  say: (line: string) => void,
): Promise<void> {
  const origin = originOf((app.getHttpServer() as Server).address() as AddressInfo);
  const baseUrl = `${origin}/${PREFIX}`;
  say(`Lanyard listens at ${baseUrl}`);
  say(`API reference: ${origin}/docs`);
  const organizations = app.get(OrganizationsService);
  // A database that does not answer at this moment is no reason to stop serving.
  const isFirstStart = await organizations.isEmpty().catch(() => false);
  const demo = isFirstStart && database.embedded && config.demo === 'on' ? await makeDemo(database.url) : undefined;
  if (!demo) {
    say(`To issue a key: ${ISSUE_A_KEY} (organizations ${isFirstStart ? 'create makes one' : 'list has the IDs'})`);
    return;
  }
  say('Your first request, with the key of the demo organization, which is shown only this once:');
  say(`  export KEY=${demo.key}`);
  say(`  curl -H "x-api-key: $KEY" '${baseUrl}/leads?limit=1'`);
}

/**
 * An organization with the demo's records, and a key: all of it, or nothing, so that a start which was cut short leaves it
 * to the next one.
 * @returns the key; undefined when another process, which started at the same time, made an organization
 */
export async function makeDemo(databaseUrl: string): Promise<IssuedKey | undefined> {
  const root = DemoModule.with(new Config({ databaseUrl }));
  const services = await NestFactory.createApplicationContext(root, { abortOnError: false });
  try {
    const organizations = services.get(OrganizationsService);
    return await services.get(Transactions).run(async () => {
      await services.get(EntityManager).query('lock table organizations in share row exclusive mode');
      if (!(await organizations.isEmpty())) return undefined;
      const { id } = await organizations.create('Demo');
      await services.get(ImportService).import(id, demoRecords);
      return services.get(ApiKeysService).issue(id, { label: 'demo' });
    });
  } finally {
    await services.close();
  }
}
