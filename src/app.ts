import type { Server } from 'node:http';
import { parse } from 'node:querystring';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { AppModule } from './app.module';
import type { Config } from './config';
import { answerBrokenRequests } from './http/broken-requests';
import { LeanExpressAdapter } from './http/express-adapter';
import { prepareRequest } from './http/request';
import { createLog, type Log, NestLog } from './observability/log';
import { Metrics } from './observability/metrics';
import { logRequests, observe } from './observability/requests';
import { PAGES } from './pages/pages.controller';

export const PREFIX = 'api/v0';

/** The server, ready to listen. The program, every test and the OpenAPI document build it here. */
export async function createApp(
  config: Config,
  log: Log = createLog(config.logLevel),
): Promise<NestExpressApplication> {
  const adapter = new LeanExpressAdapter(config);
  const app = await NestFactory.create<NestExpressApplication>(AppModule.with(config), adapter, {
    bodyParser: false,
    logger: new NestLog(log),
    abortOnError: false,
  });
  const metrics = app.get(Metrics);
  const observers = [
    ...(log.isLevelEnabled('error') ? [logRequests(log)] : []),
    ...(metrics.isWanted ? [metrics.observe] : []),
  ];
  // The adapter's own first step, because each middleware is one more of the router's.
  adapter.setOnRequestHook((request: Request, response: Response, next: NextFunction) => {
    if (observers.length > 0) observe(request, response, observers);
    prepareRequest(request, response, next);
  });
  app.setGlobalPrefix(PREFIX, { exclude: ['health/live', 'health/ready', ...PAGES] });
  app.disable('x-powered-by');
  // Answers carry no ETag: hashing each of them costs more than a client could save.
  app.disable('etag');
  // All of the parameters: beyond a thousand Node.js would look at none, and find no fault with them.
  app.set('query parser', (query: string | null) => parse(query ?? '', '&', '=', { maxKeys: 0 }));
  app.set('trust proxy', config.trustProxy);
  // Only then are preflights answered, which have no key. A page may send any header, and read all.
  if (config.corsOrigins) app.enableCors({ origin: config.corsOrigins, exposedHeaders: '*', maxAge: 600 });
  answerBrokenRequests(app.getHttpServer() as Server);
  return app;
}
