import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { DataSource } from 'typeorm';
import { ApiKeysService } from '../../src/access/api-keys.service';
import { OrganizationsService } from '../../src/access/organizations.service';
import { ImportFault } from '../../src/cli/import/import-fault';
import { ImportService } from '../../src/cli/import/import.service';
import { type InProcess, startInProcess } from '../../test/support/lanyard';
import type { Random } from '../support/random';
import { Impossible } from './contract';
import { imported, newDataset } from './import';
import { Model } from './model';
import { Tenant } from './records';

const UNLIMITED = { maxTokens: 1_000_000, refillRate: 1_000_000 };
const MAX_ORGANIZATIONS = 5;

/** A server on a database of its own, and the model of it. */
export class World {
  readonly model = new Model();
  readonly port: number;
  private readonly imports: ImportService;

  private constructor(
    private readonly server: InProcess,
    private readonly random: Random,
  ) {
    this.port = Number(new URL(server.baseUrl).port);
    // On a busy machine connections are idle for long, and one that is closed as it is used looks like a fault.
    (server.app.getHttpServer() as Server).keepAliveTimeout = 0;
    this.imports = new ImportService(server.app.get(DataSource).manager);
  }

  /** Two organizations, with what only an import makes. */
  static async start(random: Random): Promise<World> {
    const world = new World(await startInProcess(), random);
    for (const _ of [1, 2]) await world.import(await world.createOrganization());
    return world;
  }

  async stop(): Promise<void> {
    (this.server.app.getHttpServer() as Server).closeIdleConnections();
    await this.server.stop();
  }

  /** Something that the operator does. @returns what the contract has instead, or undefined */
  async operate(tenant: Tenant): Promise<string | undefined> {
    const { random } = this;
    const isRoom = this.model.state.tenants.list().length < MAX_ORGANIZATIONS;
    if (isRoom && random.chance(0.05)) await this.createOrganization();
    else if (random.chance(0.3)) await this.issueKey(tenant.id, random.between(1, 5), 0.001, false);
    else return this.import(tenant);
    return undefined;
  }

  private async createOrganization(): Promise<Tenant> {
    const { id } = await this.server.app.get(OrganizationsService).create('Model');
    const tenant = new Tenant(id);
    this.model.state.tenants.set(id, tenant);
    await this.issueKey(id, UNLIMITED.maxTokens, UNLIMITED.refillRate, true);
    return tenant;
  }

  private async issueKey(organization: number, maxTokens: number, refillRate: number, isMain: boolean): Promise<void> {
    const { key: value } = await this.server.app.get(ApiKeysService).issue(organization, { maxTokens, refillRate });
    this.model.state.keys.set(value, { value, organization, isMain, maxTokens, refillRate, tokens: maxTokens });
  }

  /** A dataset, or rarely one with an unknown reference, which must be refused as a whole. */
  private async import(tenant: Tenant): Promise<string | undefined> {
    const dataset = newDataset(this.random);
    const [activity] = dataset.leadActivityEvents;
    const isFaulty = activity !== undefined && this.random.chance(0.1);
    if (isFaulty) activity.associatedLead = randomUUID();
    try {
      const { events } = await this.imports.import(tenant.id, structuredClone(dataset));
      if (isFaulty) return 'a refusal';
      imported(this.model.state, tenant, dataset, events[dataset.events[0]?.ref ?? '']);
      return undefined;
    } catch (error) {
      if (error instanceof Impossible) return error.message;
      if (!(error instanceof ImportFault)) throw error;
      const isRight = isFaulty && error.message.startsWith('leadActivityEvents[0].associatedLead');
      return isRight ? undefined : `an import, not ${error.message}`;
    }
  }
}
