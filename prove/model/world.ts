import type { Server } from 'node:http';
import { DataSource } from 'typeorm';
import { ApiKeysService } from '../../src/access/api-keys.service';
import { OrganizationsService } from '../../src/access/organizations.service';
import { ImportFault } from '../../src/cli/import/import-fault';
import { ImportService } from '../../src/cli/import/import.service';
import { type InProcess, startInProcess } from '../../test/support/lanyard';
import { type Key, newKey } from './access';
import { Impossible } from './contract';
import type { Call } from './endpoints';
import { type Dataset, importInto } from './import';
import { Model } from './model';
import { Tenant } from './records';
import { resolved } from './references';
import type { Command, SymbolicCall } from './steps';

const UNLIMITED = { maxTokens: 1_000_000, refillRate: 1_000_000 };
const MAX_ORGANIZATIONS = 5;

/** A server on a database of its own, and the model of it. */
export class World {
  readonly model = new Model();
  readonly port: number;
  private readonly keys: ApiKeysService;
  private readonly organizations: OrganizationsService;
  private readonly imports: ImportService;
  /** the key of each organization that is never revoked */
  private readonly mainKeys = new Map<number, string>();

  private constructor(private readonly server: InProcess) {
    this.port = Number(new URL(server.baseUrl).port);
    // On a busy machine connections are idle for long, and one that is closed as it is used looks like a fault.
    (server.app.getHttpServer() as Server).keepAliveTimeout = 0;
    this.keys = server.app.get(ApiKeysService);
    this.organizations = server.app.get(OrganizationsService);
    this.imports = new ImportService(server.app.get(DataSource).manager);
  }

  static async start(): Promise<World> {
    const world = new World(await startInProcess());
    for (const _ of [1, 2]) await world.createOrganization();
    return world;
  }

  async stop(): Promise<void> {
    (this.server.app.getHttpServer() as Server).closeIdleConnections();
    await this.server.stop();
  }

  /** What a call means at this moment. */
  concrete({ endpoint, key, ids, query, payload }: SymbolicCall): Call {
    const keys = 'values' in key ? key.values : [this.keyMeant(key)];
    const tenant = this.tenantOf(keys[0]);
    const meant = resolved(this.model.state, tenant, { ids, query, payload }) as Pick<
      Call,
      'ids' | 'query' | 'payload'
    >;
    return { endpoint, keys, ...meant };
  }

  /** The organization that a key speaks for; for a key that is none, the first. */
  tenantOf(key: string | undefined): Tenant {
    const known = key === undefined ? undefined : this.model.state.keys.get(key);
    return known ? this.model.state.tenant(known.organization) : this.organization(0);
  }

  readonly keyOf = ({ id }: Tenant): string => this.mainKeys.get(id) ?? '';

  /** @returns what the contract has instead, or undefined */
  async perform(command: Command): Promise<string | undefined> {
    switch (command.command) {
      case 'createOrganization':
        return this.createOrganization();
      case 'issueKey':
        return this.issueKey(command);
      case 'revokeKey':
        return this.revokeKey(command.key);
      case 'import':
        return this.import(this.organization(command.organization), command.dataset);
    }
  }

  private organization(n: number): Tenant {
    const all = this.model.state.tenants.list();
    return all[n % all.length] as Tenant;
  }

  private keyMeant(choice: { organization: number } | { extra: number }): string {
    if ('organization' in choice) return this.keyOf(this.organization(choice.organization));
    return this.extraKey(choice.extra)?.value ?? this.keyOf(this.organization(0));
  }

  private extraKey(n: number): Key | undefined {
    const main = new Set(this.mainKeys.values());
    const extras = this.model.state.keys.living().filter((value) => !main.has(value));
    return this.model.state.keys.get(extras[n % Math.max(extras.length, 1)] ?? '');
  }

  private async createOrganization(): Promise<undefined> {
    const { state } = this.model;
    if (this.mainKeys.size === MAX_ORGANIZATIONS) return;
    const { id: organization } = await this.organizations.create('Model');
    const { id, key: value } = await this.keys.issue(organization, UNLIMITED);
    state.tenants.set(organization, new Tenant(organization));
    state.keys.set(value, newKey({ id, value, organization, ...UNLIMITED, endsAt: undefined }));
    this.mainKeys.set(organization, value);
  }

  private async issueKey(command: Command & { command: 'issueKey' }): Promise<string | undefined> {
    const { id: organization } = this.organization(command.organization);
    const { maxTokens, refillRate, expired } = command;
    const endsAt = expired ? Date.now() - 1000 : undefined;
    const expiry = endsAt === undefined ? {} : { expiresAt: new Date(endsAt) };
    const { id, key: value, ...issued } = await this.keys.issue(organization, { maxTokens, refillRate, ...expiry });
    this.model.state.keys.set(value, newKey({ id, value, organization, maxTokens, refillRate, endsAt }));
    const isRight = issued.maxTokens === maxTokens && issued.organizationId === organization;
    return isRight ? undefined : `issued ${JSON.stringify(issued)}`;
  }

  private async revokeKey(n: number): Promise<string | undefined> {
    const key = this.extraKey(n);
    if (!key) return undefined;
    const endsAt = Math.min(key.endsAt ?? Infinity, Date.now());
    const revoked = await this.keys.revoke(key.id);
    this.model.state.keys.set(key.value, { ...key, endsAt });
    return revoked?.id === key.id ? undefined : 'a revoked key';
  }

  /** The whole dataset, or a refusal that names one of its faults. */
  private async import(tenant: Tenant, symbolic: Dataset): Promise<string | undefined> {
    const { state } = this.model;
    const dataset = resolved(state, tenant, symbolic) as Dataset;
    let eventIds: Record<string, number> | undefined;
    let refusal = '';
    try {
      eventIds = (await this.imports.import(tenant.id, structuredClone(dataset))).events;
    } catch (error) {
      if (!(error instanceof ImportFault)) throw error;
      refusal = error.message;
    }
    const restore = state.snapshot();
    try {
      const faults = importInto(state, tenant, dataset, eventIds);
      if (faults.length === 0) return eventIds ? undefined : `an import, not ${refusal}`;
      restore();
      const isRight = !eventIds && faults.some((place) => refusal.startsWith(place));
      return isRight ? undefined : `a refusal of ${faults.join(', ')}, not ${refusal || 'an import'}`;
    } catch (error) {
      if (error instanceof Impossible) return error.message;
      throw error;
    }
  }
}
