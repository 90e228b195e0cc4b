import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { PREFIX } from './app';
import { ApiKeysService } from './access/api-keys.service';
import { OrganizationsService } from './access/organizations.service';
import { Config } from './config';
import { demo } from './operator/demo';
import { ImportService } from './operator/import.service';

const ISSUE_A_KEY = 'npm run --silent operator -- keys issue --organization ID';

/**
 * Tells a person who started the server what to do next. The first start on the embedded PostgreSQL makes an
 * organization to play with, and shows its key, which is stored nowhere.
 */
export async function welcome(
  app: INestApplication,
  config: Config,
  embedded: boolean,
  say: (line: string) => void,
): Promise<void> {
  const { address, port } = (app.getHttpServer() as Server).address() as AddressInfo;
  const host = ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(address) ? 'localhost' : address;
  const origin = `http://${host}:${port}`;
  const baseUrl = `${origin}/${PREFIX}`;
  say(`Lanyard listens at ${baseUrl}`);
  say(`To read about it, and to try it out: ${origin}/docs`);
  const organizations = app.get(OrganizationsService);
  // A database that is away at this moment is no reason to stop serving.
  const isFirstStart = await organizations.areNone().catch(() => false);
  if (!(isFirstStart && embedded && config.demo)) {
    say(`To issue a key: ${ISSUE_A_KEY}${isFirstStart ? ' (organizations create makes an organization)' : ''}`);
    return;
  }
  const { id } = await organizations.create('Demo');
  await new ImportService(app.get(DataSource)).import(id, demo);
  const { key } = await app.get(ApiKeysService).issue(id, { label: 'demo' });
  say(`Demo organization ${id}, with a key that is shown this once: ${key}`);
  say(`Try: curl -H 'x-api-key: ${key}' '${baseUrl}/leads?limit=1'`);
}
