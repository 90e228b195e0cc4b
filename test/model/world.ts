import type { Server } from 'node:http';
import { type InProcess, startInProcess } from '../support/lanyard';
import { Model } from './model';
import { Tenant } from './records';

/** A server on a database of its own, and the model of it. */
export class World {
  readonly model = new Model();
  readonly port: number;

  private constructor(private readonly server: InProcess) {
    this.port = Number(new URL(server.baseUrl).port);
    // On a busy machine connections are idle for long, and one that is closed as it is used looks like an error.
    (server.app.getHttpServer() as Server).keepAliveTimeout = 0;
  }

  /** A world of two organizations. */
  static async start(): Promise<World> {
    const world = new World(await startInProcess());
    for (const _ of [1, 2]) {
      const { organizationId, key } = await world.server.tenant();
      world.model.state.tenants.set(organizationId, new Tenant(organizationId, key));
    }
    return world;
  }

  async stop(): Promise<void> {
    (this.server.app.getHttpServer() as Server).closeIdleConnections();
    await this.server.stop();
  }
}
