import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import type { Config } from '../config';
import { FeedSender } from '../feed/changes/feed-sender';
import { drainConnections } from '../http/server/drain-connections';
import type { LeanExpressAdapter } from '../http/server/express-adapter';
import { HealthController } from '../observability/health.controller';

/**
 * Ends the work of a server without losing a request: load balancers see that it is not ready, another process takes over the
 * delivery of webhooks, and requests in progress get their responses. The application may be closed then.
 */
export async function stopServer(app: INestApplication, { drainMs }: Config): Promise<void> {
  app.get(HealthController).isStopping = true;
  void app.get(FeedSender).stop();
  const adapter = app.getHttpAdapter() as unknown as LeanExpressAdapter;
  await drainConnections(app.getHttpServer() as Server, adapter, drainMs);
}
