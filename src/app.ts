import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module';
import type { Config } from './config';
import { errorBody } from './http/errors';
import { LeanExpressAdapter } from './http/express-adapter';
import { prepareRequest } from './http/request';

export const PREFIX = 'api/v0';

/** The server, ready to listen. The program, every test and the OpenAPI document build it here. */
export async function createApp(config: Config): Promise<NestExpressApplication> {
  const adapter = new LeanExpressAdapter();
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

/** What Node answers by itself, without a body or in plain text, becomes a JSON error like any other. */
function answerBrokenRequests(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const status = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }[error.code ?? ''] ?? 400;
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const body = errorBody(status);
    socket.end(
      `HTTP/1.1 ${status} Error\r\nContent-Type: application/json; charset=utf-8\r\nConnection: close\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  });
  // Node would refuse a request without a Host header in silence; refuseMissingHost says why.
  Object.assign(server, { requireHostHeader: false });
  // The body guard says 100 Continue, once there are a key and a token.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}
