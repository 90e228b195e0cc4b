import type { Server } from 'node:http';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module';
import type { Config } from './config';
import { answerBrokenRequests } from './http/broken-requests';
import { LeanExpressAdapter } from './http/express-adapter';
import { prepareRequest } from './http/request';

export const PREFIX = 'api/v0';

/** The server, ready to listen. The program, every test and the OpenAPI document build it here. */
export async function createApp(config: Config): Promise<NestExpressApplication> {
  const adapter = new LeanExpressAdapter(config);
  // The adapter's own first step, because each middleware is one more of the router's.
  adapter.setOnRequestHook(prepareRequest);
  const app = await NestFactory.create<NestExpressApplication>(AppModule.with(config), adapter, {
    bodyParser: false,
    logger: config.logLevels,
    abortOnError: false,
  });
  app.setGlobalPrefix(PREFIX, { exclude: ['health/live', 'health/ready'] });
  app.disable('x-powered-by');
  // Answers carry no ETag: hashing each of them costs more than a client could save.
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('trust proxy', config.trustProxy);
  answerBrokenRequests(app.getHttpServer() as Server);
  return app;
}
