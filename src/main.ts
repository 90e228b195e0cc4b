import 'reflect-metadata';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createApp } from './app';
import { Config, ConfigError, readConfig } from './config';
import { EmbeddedPostgresError } from './database/embedded/embedded-postgres-error';
import { openDatabase } from './database/open';
import { Readiness } from './health/readiness';
import { welcome } from './welcome';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Starts, listens, and stops when it is told to. */
async function main(): Promise<void> {
  const asked = readConfig();
  const stop = stopSignal();
  const database = await openDatabase(asked, say, { milliseconds: asked.databaseWaitMs, say, signal: stop });
  try {
    const config = new Config({ ...asked, databaseUrl: database.url });
    const app = await createApp(config);
    try {
      await listen(app, config);
      await welcome(app, config, database.embedded, say);
      if (!stop.aborted) await once(stop, 'abort');
      await drain(app, config);
    } finally {
      await app.close();
    }
  } finally {
    await database.close();
  }
}

/** Aborted at the first Ctrl-C or SIGTERM; the second one ends the process at once. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort());
  return controller.signal;
}

/** Node's own listen: Nest's would log the error a second time. */
async function listen(app: NestExpressApplication, { host, port }: Config): Promise<void> {
  await app.init();
  const server = app.getHttpServer() as Server;
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    throw refusal((error as NodeJS.ErrnoException).code ?? '', host, port) ?? error;
  }
}

function refusal(code: string, host: string, port: number): ConfigError | undefined {
  if (code === 'EADDRINUSE') return new ConfigError(`PORT: ${port} is in use by another program`);
  if (code === 'EACCES') return new ConfigError(`PORT: ${port} may not be used by this user`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new ConfigError(`HOST: ${host} is no address of this machine`);
  }
  return undefined;
}

/**
 * Tells load balancers that this server is going, serves on while they take notice, and asks clients to close their
 * connections. `app.close()` then waits for the answers that are under way.
 */
async function drain(app: NestExpressApplication, { drainMs }: Config): Promise<void> {
  app.get(Readiness).isStopping = true;
  const server = app.getHttpServer() as Server;
  server.prependListener('request', (_, response) => response.setHeader('Connection', 'close'));
  await pause(drainMs);
  server.closeIdleConnections();
}

main().then(
  // A stray handle must not keep a stopped server alive.
  () => process.exit(0),
  (error: unknown) => {
    // Told to stop while it waited for the database.
    if (error instanceof Error && error.name === 'AbortError') process.exit(0);
    const isExpected = error instanceof ConfigError || error instanceof EmbeddedPostgresError;
    process.stderr.write(`${isExpected ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  },
);
