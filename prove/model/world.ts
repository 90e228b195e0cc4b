import type { Server } from 'node:http';
import { DataSource } from 'typeorm';
import { ApiKeysService, KeySettings } from '../../src/access/api-keys.service';
import { OrganizationsService } from '../../src/access/organizations.service';
import { ExportService } from '../../src/cli/export/export.service';
import { ImportFault } from '../../src/cli/import/import-fault';
import { ImportService } from '../../src/cli/import/import.service';
import { InProcess, startInProcess } from '../../test/support/lanyard';
import { Client } from './client';
import type { Call } from './endpoints';
import { checkExport } from './export';
import { Dataset, Imported, importInto } from './import';
import { Model } from './model';
import type { Fields, Tenant } from './records';
import { resolved } from './references';
import type { Command, KeyChoice, SymbolicCall } from './steps';

const UNLIMITED = { maxTokens: 1_000_000, refillRate: 1_000_000 };
const MOST_ORGANIZATIONS = 5;

/** A server on a database of its own, and the model of it. */
export class World {
  readonly model = new Model();
  readonly client: Client;
  private readonly keys: ApiKeysService;
  private readonly organizations: OrganizationsService;
  private readonly imports: ImportService;
  private readonly exports: ExportService;
  /** the key of each organization that is never taken away */
  private readonly mainKeys = new Map<number, string>();

  private constructor(private readonly server: InProcess) {
    this.client = new Client(server.baseUrl);
    // A busy machine lets connections idle for long, and one that is closed as it is used looks like a fault.
    (server.app.getHttpServer() as Server).keepAliveTimeout = 0;
    this.keys = server.app.get(ApiKeysService);
    this.organizations = server.app.get(OrganizationsService);
    this.imports = new ImportService(server.app.get(DataSource).manager);
    this.exports = new ExportService(server.app.get(DataSource));
  }

  static async start(): Promise<World> {
    const world = new World(await startInProcess());
    for (const _ of [1, 2]) await world.createOrganization();
    return world;
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.server.stop();
  }

  /** What a call means at this moment. */
  concrete({ endpoint, key, ids, query, payload }: SymbolicCall): Call {
    const keys = this.keyValues(key);
    const tenant = this.tenantOf(keys[0]);
    return {
      ...{ endpoint, keys, ids: resolved(this.model, tenant, ids) as string[] },
      query: resolved(this.model, tenant, query) as Call['query'],
      payload: resolved(this.model, tenant, payload) as Call['payload'],
    };
  }

  /** The organization that a key speaks for; for a key that is none, the first. */
  tenantOf(key: string | undefined): Tenant {
    const organization = key === undefined ? undefined : this.model.keys.get(key)?.organization;
    return organization === undefined ? this.organization(0) : this.model.tenant(organization);
  }

  tenants(): { tenant: Tenant; key: string }[] {
    return this.model.tenants.list().map((tenant) => ({ tenant, key: this.mainKeys.get(tenant.id) ?? '' }));
  }

  /** @returns what the contract has instead, or undefined */
  async perform(command: Command): Promise<string | undefined> {
    switch (command.command) {
      case 'createOrganization':
        return this.createOrganization();
      case 'issueKey':
        return this.issueKey(command);
      case 'setLimits':
        return this.setLimits(command.key, command.maxTokens);
      case 'rotateKey':
        return this.rotateKey(command.key, command.overlap);
      case 'revokeKey':
        return this.revokeKey(command.key);
      case 'import':
        return this.import(this.organization(command.organization), command.dataset);
      case 'exportAndImport':
        return this.exportAndImport(this.organization(command.organization));
    }
  }

  private organization(n: number): Tenant {
    const all = this.model.tenants.list();
    const tenant = all[n % all.length];
    if (!tenant) throw new Error('no organization');
    return tenant;
  }

  private keyValues(choice: KeyChoice): string[] {
    if ('values' in choice) return choice.values;
    if ('organization' in choice) return [this.mainKeys.get(this.organization(choice.organization).id) ?? ''];
    const extra = this.extraKey(choice.extra);
    return [extra ? extra.value : (this.mainKeys.get(this.organization(0).id) ?? '')];
  }

  private extraKey(n: number) {
    const main = new Set(this.mainKeys.values());
    const extras = this.model.keys.living().filter((value) => !main.has(value));
    return this.model.keys.get(extras[n % Math.max(extras.length, 1)] ?? '');
  }

  private async createOrganization(): Promise<undefined> {
    if (this.mainKeys.size === MOST_ORGANIZATIONS) return;
    const { id } = await this.organizations.create('Model');
    const { id: keyId, key } = await this.keys.issue(id, UNLIMITED);
    this.model.addOrganization(id);
    this.model.addKey(keyId, key, id, UNLIMITED);
    this.mainKeys.set(id, key);
  }

  private async issueKey(command: Command & { command: 'issueKey' }): Promise<string | undefined> {
    const { id: organization } = this.organization(command.organization);
    const { maxTokens, refillRate, expired } = command;
    const settings: Partial<KeySettings> = { maxTokens, refillRate };
    const endsAt = expired ? Date.now() - 1000 : undefined;
    if (endsAt) settings.expiresAt = new Date(endsAt);
    const issued = await this.keys.issue(organization, settings);
    this.model.addKey(issued.id, issued.key, organization, { maxTokens, refillRate }, endsAt);
    const right = issued.maxTokens === maxTokens && issued.organizationId === organization;
    return right ? undefined : `issued ${JSON.stringify({ ...issued, key: '' })}`;
  }

  /** A key's limits are changed once: what a second change within 5 seconds may do has no end. */
  private async setLimits(n: number, maxTokens: number): Promise<string | undefined> {
    const key = this.extraKey(n);
    if (!key || key.changed || key.settings.refillRate > 1) return undefined;
    const at = Date.now();
    const row = await this.keys.setLimits(key.id, { maxTokens });
    this.model.keys.set(key.value, { ...key, changed: { at, maxTokens } });
    return row?.maxTokens === maxTokens ? undefined : `limits of ${row?.maxTokens}`;
  }

  private async rotateKey(n: number, overlap: number): Promise<string | undefined> {
    const key = this.extraKey(n);
    if (!key || key.endsAt !== undefined) return undefined;
    const endsAt = Date.now() + overlap * 1000;
    const issued = await this.keys.rotate(key.id, overlap);
    if (!issued) return 'a rotated key';
    const settings = { ...key.settings, maxTokens: key.changed?.maxTokens ?? key.settings.maxTokens };
    this.model.addKey(issued.id, issued.key, key.organization, settings);
    this.model.keys.set(key.value, { ...key, endsAt });
    return issued.maxTokens === settings.maxTokens ? undefined : `limits of ${issued.maxTokens}`;
  }

  private async revokeKey(n: number): Promise<string | undefined> {
    const key = this.extraKey(n);
    if (!key) return undefined;
    const endsAt = Math.min(key.endsAt ?? Infinity, Date.now());
    const revoked = await this.keys.revoke(key.id);
    this.model.keys.set(key.value, { ...key, endsAt });
    return revoked?.id === key.id ? undefined : 'a revoked key';
  }

  private async import(tenant: Tenant, symbolic: Dataset): Promise<string | undefined> {
    const dataset = withoutDoubles(resolved(this.model, tenant, symbolic) as Dataset);
    let told: Imported | undefined;
    let fault = '';
    try {
      const result = await this.imports.import(tenant.id, structuredClone(dataset));
      told = { ...result, industryEvents: await this.industryEvents() };
    } catch (error) {
      if (!(error instanceof ImportFault)) throw error;
      fault = error.message;
    }
    const mark = this.model.journal.mark();
    const faults = importInto(this.model, tenant, dataset, told);
    if (faults.length === 0) return told ? countFault(dataset, told) : `an import, not ${fault}`;
    this.model.journal.rollback(mark);
    const right = !told && faults.some((place) => fault.startsWith(place));
    return right ? undefined : `a refusal of ${faults.join(', ')}, not ${fault || 'an import'}`;
  }

  /** The ids of industry events by their eventUrls: those of new ones that have none in a dataset are told to nobody. */
  private async industryEvents(): Promise<Map<string, string>> {
    const stored = await this.server.app
      .get(DataSource)
      .query<{ id: string; url: string }[]>(
        'select id, event_url as url from industry_events where event_url is not null',
      );
    return new Map(stored.map(({ id, url }) => [url, id]));
  }

  /** What is exported and imported again changes nothing. */
  private async exportAndImport(tenant: Tenant): Promise<string | undefined> {
    const exported: Record<string, Fields[]> = {};
    for await (const { section, record } of this.exports.export(tenant.id)) {
      (exported[section] ??= []).push(JSON.parse(record) as Fields);
    }
    const fault = checkExport(this.model, tenant, exported);
    if (fault !== undefined) return fault;
    await this.imports.import(tenant.id, exported);
    return undefined;
  }
}

/** A dataset names each record once, but for industry events. */
const withoutDoubles = (dataset: Dataset): Dataset =>
  Object.fromEntries(
    Object.entries(dataset).map(([section, records]) => {
      const keyOf = ({ id, ref, email }: Fields): unknown => id ?? ref ?? email;
      const seen = new Set<unknown>();
      if (section === 'industryEvents') return [section, records];
      return [section, records.filter((record) => !seen.has(keyOf(record)) && seen.add(keyOf(record)))];
    }),
  );

function countFault(dataset: Dataset, { imported }: Imported): string | undefined {
  const wrong = Object.entries(imported).find(
    ([name, count]) => count !== (dataset[name as keyof Dataset]?.length ?? 0),
  );
  return wrong && `imported ${wrong.join(': ')}`;
}
