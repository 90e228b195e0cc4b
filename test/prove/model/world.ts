import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { ImportError } from '../../../src/datasets/import-error';
import { type InProcess, startInProcess, type Tenant as Organization, UNLIMITED } from '../../support/lanyard';
import type { Random } from '../support/random';
import { Impossible } from './contract';
import { imported, newDataset } from './import';
import { Model } from './model';
import { Tenant } from './records';

const MAX_ORGANIZATIONS = 5;

/** A server on a database of its own, and the model of it. */
export class World {
  readonly model = new Model();
  readonly port: number;
  private readonly organizations = new Map<number, Organization>();

  private constructor(
    private readonly server: InProcess,
    private readonly random: Random,
  ) {
    this.port = Number(new URL(server.baseUrl).port);
    // On a busy machine connections are idle for long, and one that is closed as it is used looks like a fault.
    (server.app.getHttpServer() as Server).keepAliveTimeout = 0;
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
    else if (random.chance(0.3)) await this.issueKey(tenant.id, random.between(1, 5));
    else return this.import(tenant);
    return undefined;
  }

  private async createOrganization(): Promise<Tenant> {
    const made = await this.server.tenant();
    const { organizationId: id, key: value } = made;
    this.organizations.set(id, made);
    const tenant = new Tenant(id);
    this.model.state.tenants.set(id, tenant);
    this.model.state.keys.set(value, {
      ...UNLIMITED,
      value,
      organization: id,
      isMain: true,
      tokens: UNLIMITED.maxTokens,
    });
    return tenant;
  }

  private async issueKey(organization: number, maxTokens: number): Promise<void> {
    const limits = { maxTokens, refillRate: 0.001 };
    const { key: value = '' } = (await this.organizations.get(organization)?.issueKey(limits)) ?? {};
    this.model.state.keys.set(value, { ...limits, value, organization, isMain: false, tokens: maxTokens });
  }

  /** A dataset, or rarely one with an unknown reference, which must be refused as a whole. */
  private async import(tenant: Tenant): Promise<string | undefined> {
    const dataset = newDataset(this.random);
    const [activity] = dataset.leadActivityEvents;
    const isFaulty = activity !== undefined && this.random.chance(0.1);
    if (isFaulty) activity.associatedLead = randomUUID();
    try {
      const events = await this.organizations.get(tenant.id)?.import(structuredClone(dataset));
      if (isFaulty) return 'a refusal';
      imported(this.model.state, tenant, dataset, events?.[dataset.events[0]?.ref ?? '']);
      return undefined;
    } catch (error) {
      if (error instanceof Impossible) return error.message;
      if (!(error instanceof ImportError)) throw error;
      const isRight = isFaulty && error.message.startsWith('leadActivityEvents[0].associatedLead');
      return isRight ? undefined : `an import, not ${error.message}`;
    }
  }
}
