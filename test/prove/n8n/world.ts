import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operator } from '../../../scripts/services.mjs';
import { createExhibitor, leadInput } from '../../support/builders';
import { ApiClient } from '../../support/client';
import { freePort } from '../../support/servers/free-port';
import { HubSpot } from '../../support/hubspot';
import { Postgres } from '../faults/postgres';
import { Api } from '../support/api';
import { runOperator } from '../support/operator';
import { Mailbox } from './mailbox';
import { type CredentialReference, N8n, packNodes, type StoredWorkflow, type WorkflowFile } from './n8n-server';
import { PublicHosts } from './public-hosts';
import { Sheet } from './sheet';

const TOKEN = 'pat-proof';
const TEMPLATES = join(__dirname, '../../../clients/n8n/templates');
/** What README.md of clients/n8n gives the key of n8n. */
const N8N_LIMITS = ['--max-tokens', '100', '--refill-rate', '10'];
/** So many tokens that the proof never waits for one. */
const PROOF_LIMITS = ['--max-tokens', '9000000', '--refill-rate', '1000000'];
const BATCH = 100;

export type Defer = (undo: () => Promise<unknown>) => void;

export interface Lead {
  id: string;
  email: string | null;
  remoteIds: { id: string; integrationType: string }[];
}

interface IssuedKey {
  id: string;
  key: string;
}

/** A real Lanyard and a real n8n, with stand-ins for HubSpot, Google Sheets and a mail server. */
export class World {
  readonly hubspot = new HubSpot(TOKEN);
  readonly sheet = new Sheet('Leads');
  readonly mailbox = new Mailbox();
  readonly directory = mkdtempSync(join(tmpdir(), 'lanyard-n8n-'));
  postgres: Postgres;
  lanyard: Api;
  n8n: N8n;
  /** With a key of the proof's own. */
  api: ApiClient;
  private organizationId: number;
  private n8nKey: IssuedKey;
  /** The credentials of n8n, by their types. */
  readonly credentials = new Map<string, CredentialReference>();
  private addedLeads = 0;

  /** @param isKept Whether its logs stay. */
  constructor(
    private readonly defer: Defer,
    isKept = false,
  ) {
    defer(async () => {
      if (isKept) process.stdout.write(`The logs are in ${this.directory}\n`);
      else rmSync(this.directory, { recursive: true, force: true, maxRetries: 3 });
    });
  }

  /** Lanyard on a PostgreSQL of its own, and an organization with a key for n8n. */
  async startLanyard(): Promise<void> {
    chmodSync(this.directory, 0o755); // root's PostgreSQL runs as another user
    this.postgres = await Postgres.make(join(this.directory, 'data'), join(this.directory, 'postgresql.log'));
    this.defer(() => this.postgres.stop());
    await runOperator(this.postgres.url(), ['migrate']);
    const settings = { DATABASE_URL: this.postgres.url(), REDIS_URL: '', LANYARD_API_WEBHOOK_PRIVATE: 'on' };
    this.lanyard = new Api(join(this.directory, 'lanyard.log'), await freePort(), settings);
    this.defer(() => this.lanyard.stop());
    await this.lanyard.start();
    this.organizationId = (await this.operator<{ id: number }>('organizations', 'create', '--name', 'Proof')).id;
    const issue = ['keys', 'issue', '--organization', String(this.organizationId)];
    this.n8nKey = await this.operator<IssuedKey>(...issue, ...N8N_LIMITS);
    this.api = this.client((await this.operator<IssuedKey>(...issue, ...PROOF_LIMITS)).key);
  }

  private client(key: string): ApiClient {
    return new ApiClient(`http://127.0.0.1:${this.lanyard.port}/api/v0`, key);
  }

  /** n8n with the packed nodes, an owner and credentials. */
  async startN8n(node: string, folder: string): Promise<void> {
    await this.postgres.query('create database n8n');
    const hosts = { 'api.hubapi.com': this.hubspot.server, 'sheets.googleapis.com': this.sheet.server };
    const { proxy, certificate } = new PublicHosts(this.directory, hosts);
    const [smtpPort, proxyPort] = [await this.listen(this.mailbox.server), await this.listen(proxy)];
    const home = join(this.directory, 'n8n');
    mkdirSync(home);
    const { port, username, password } = new URL(this.postgres.url());
    this.n8n = new N8n(node, folder, home, await freePort(), {
      DB_TYPE: 'postgresdb',
      DB_POSTGRESDB_HOST: '127.0.0.1',
      DB_POSTGRESDB_PORT: port,
      DB_POSTGRESDB_USER: username,
      DB_POSTGRESDB_PASSWORD: decodeURIComponent(password),
      DB_POSTGRESDB_DATABASE: 'n8n',
      N8N_RUNNERS_BROKER_PORT: String(await freePort()),
      HTTPS_PROXY: `http://127.0.0.1:${proxyPort}`,
      NO_PROXY: '127.0.0.1,localhost',
      NODE_EXTRA_CA_CERTS: certificate,
    });
    this.defer(() => this.n8n.stop());
    this.n8n.install(packNodes(this.directory));
    await this.n8n.start();
    await this.addCredential('lanyardApi', 'Lanyard', this.lanyardCredential);
    await this.addCredential('hubspotAppToken', 'HubSpot', { appToken: TOKEN });
    const oauthTokenData = { access_token: 'google', token_type: 'Bearer', refresh_token: 'google', expires_in: 3599 };
    const google = { clientId: 'proof', clientSecret: 'proof', oauthTokenData };
    await this.addCredential('googleSheetsOAuth2Api', 'Google Sheets', google);
    const smtp = { user: '', password: '', host: '127.0.0.1', port: smtpPort, secure: false, disableStartTls: true };
    await this.addCredential('smtp', 'SMTP', smtp);
  }

  /** Listens on a port that is free, and lets the program end meanwhile. */
  private async listen(server: Server): Promise<number> {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    server.unref();
    return (server.address() as AddressInfo).port;
  }

  private get lanyardCredential() {
    return { baseUrl: this.api.baseUrl, apiKey: this.n8nKey.key };
  }

  private async addCredential(type: string, name: string, data: object): Promise<void> {
    this.credentials.set(type, { id: await this.n8n.addCredential({ type, name, data }), name });
  }

  importTemplate(name: string, change?: (workflow: WorkflowFile) => void): Promise<StoredWorkflow> {
    return this.n8n.importWorkflow(join(TEMPLATES, `${name}.json`), this.credentials, change);
  }

  operator<T>(...args: string[]): Promise<T> {
    return operator({ environment: { DATABASE_URL: this.postgres.url() }, defer: this.defer }, args) as Promise<T>;
  }

  /** Replaces the key of n8n, as an operator and a user of n8n do. @returns the ID of the old key, which still works */
  async rotateKey(): Promise<string> {
    const old = this.n8nKey.id;
    this.n8nKey = await this.operator<IssuedKey>('keys', 'rotate', old, '--overlap', '1h');
    const { id, name } = this.credentials.get('lanyardApi')!;
    await this.n8n.updateCredential(id, { type: 'lanyardApi', name, data: this.lanyardCredential });
    return old;
  }

  /** Lets failing webhooks go on at once, instead of after the wait between two attempts. */
  async resumeWebhooks(): Promise<void> {
    for (const { id } of await this.operator<{ id: string }[]>('webhooks', 'list'))
      await this.operator('webhooks', 'enable', id);
  }

  /** The number of webhooks of the key that n8n has. */
  async countWebhooks(): Promise<number> {
    const { body } = await this.client(this.n8nKey.key).get('/webhooks').expect(200);
    return (body as { results: { total: number } }).results.total;
  }

  /** @returns the ID of an event, to which leads may be checked in */
  async addEvent(): Promise<number> {
    const { users, tagGroups, events } = createExhibitor().dataset;
    const lines = [JSON.stringify({ users, tagGroups, events })];
    const environment = { DATABASE_URL: this.postgres.url() };
    const organization = ['--organization', String(this.organizationId)];
    const imported = await operator({ environment, defer: this.defer }, ['import', '-', ...organization], lines);
    return Object.values((imported as { events: Record<string, number> }).events)[0]!;
  }

  async addLeads(count: number): Promise<void> {
    const leads = Array.from({ length: count }, () => leadInput({ email: `Lead${this.addedLeads++}@Example.com` }));
    for (let start = 0; start < count; start += BATCH) {
      await this.api.post('/leads/batch', { matchBy: 'none', leads: leads.slice(start, start + BATCH) }).expect(200);
    }
  }

  listLeads(): Promise<Lead[]> {
    return this.api.all<Lead>('/leads', 'leads');
  }

  /** The differences between Lanyard and HubSpot: leads that are lost there, doubled, or without the ID of their contact. */
  async findHubSpotDifferences(): Promise<string[]> {
    const leads = await this.listLeads();
    const { contacts, emails } = this.hubspot;
    const doubled = emails.filter((email, n) => emails.indexOf(email) < n);
    const extra = emails.filter((email) => !leads.some((lead) => lead.email?.toLowerCase() === email));
    const lost = leads.filter(({ email, remoteIds }) => {
      const contact = contacts.get(remoteIds.find(({ integrationType }) => integrationType === 'HUB_SPOT')?.id ?? '');
      return email && (contact?.archived !== false || contact.properties.email !== email.toLowerCase());
    });
    return [...doubled, ...extra, ...lost.map(({ email }) => String(email))];
  }

  /** The IDs of leads that have no row in the spreadsheet, or more than one. */
  async findSheetDifferences(): Promise<string[]> {
    const rows = this.sheet.column('id');
    const leads = await this.listLeads();
    return leads.map(({ id }) => id).filter((id) => rows.filter((row) => row === id).length !== 1);
  }
}
