import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { parse } from 'node:querystring';
import { VersioningType } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module';
import { type Config, PREFIX } from './config';
import { Transactions } from './data/database/transactions';
import type { Extension } from './extensions/extension';
import { factoryWith } from './extensions/replaced-providers';
import { prepareRequest } from './http/server/request';
import { createLog, type Log, NestLog } from './observability/log';
import { Metrics } from './observability/metrics';
import { createRequestLogger, observeRequest } from './observability/requests';
import { serveReference } from './openapi/reference';
import { handleMalformedRequests } from './http/server/malformed-requests';
import { LeanExpressAdapter } from './http/server/express-adapter';
import { rejectDuplicateRoutes } from './http/pipeline/duplicate-routes';
import { rejectUnsupported } from './http/pipeline/unsupported-handlers';
import { withSimulationHeader } from './http/simulate/simulated-faults.interceptor';

/**
 * The server, ready to listen, for the program, every test and the OpenAPI document.
 * @param preview creates no providers and connects to nothing, which is enough for the OpenAPI document
 */
export async function createApp(
  config: Config,
  log: Log = createLog(config.logLevel),
  extension: Extension = {},
  { preview = false } = {},
): Promise<NestExpressApplication> {
  const adapter = new LeanExpressAdapter(config);
  const module = AppModule.with(config, extension);
  const app = await factoryWith(extension.providers).create<NestExpressApplication>(module, adapter, {
    bodyParser: false,
    logger: new NestLog(log),
    abortOnError: false,
    preview,
    // A word wins over a parameter, and everything over the route of unknown paths, in whatever order modules are imported.
    routeResolutionStrategy: 'specificity',
  });
  try {
    const modules = app.get(ModulesContainer);
    rejectUnsupported(modules);
    // Without providers, the RouterModule has set no paths.
    if (!preview) rejectDuplicateRoutes(modules);
  } catch (error) {
    await app.close();
    throw error;
  }
  const observers = [
    ...(log.isLevelEnabled('error') ? [createRequestLogger(log)] : []),
    ...(config.metricsPort === undefined ? [] : [app.get(Metrics).observe]),
  ];
  const transactions = app.get(Transactions);
  const refused = new WeakSet<Socket>();
  adapter.onRequest = (request, response, next) => {
    if (observers.length > 0) observeRequest(request, response, observers);
    prepareRequest(refused, request, response, () => transactions.runRequest(next));
  };
  if (config.simulate !== 'off') adapter.onRequest = withSimulationHeader(adapter.onRequest);
  app.setGlobalPrefix(PREFIX, { exclude: ['health/live', 'health/ready'] });
  // For modules that use `@Version()`: their paths are `/api/v0/v1/…`. Paths without a version stay as they are.
  app.enableVersioning({ type: VersioningType.URI });
  app.disable('x-powered-by');
  // Hashing every response costs more than a client could save.
  app.disable('etag');
  // Without a limit: Node ignores the parameters after the thousandth.
  app.set('query parser', (query: string | null) => parse(query ?? '', '&', '=', { maxKeys: 0 }));
  app.set('trust proxy', config.trustProxy);
  // Preflights have no key. A page may send any header, and read all.
  if (config.corsOrigins) app.enableCors({ origin: config.corsOrigins, exposedHeaders: '*', maxAge: 600 });
  serveReference(app);
  handleMalformedRequests(app.getHttpServer() as Server, adapter.connections);
  return app;
}
