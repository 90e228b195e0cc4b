import 'reflect-metadata';
import { stopTracing } from './observability/traced'; // before what it traces
import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createApp } from './app';
import { Config, ConfigError, readConfig } from './config';
import { EmbeddedPostgresError } from './embedded-postgres/embedded-postgres-error';
import { databaseFault } from './database/errors';
import { openDatabase } from './database/open';
import { HealthController } from './health/health.controller';
import type { LeanExpressAdapter } from './http/express-adapter';
import { listen } from './http/listen';
import { endLog, say } from './observability/log';
import { stopSignal } from './stop-signal';
import { welcome } from './welcome';

/** Starts, listens, and stops when it is told to. */
async function main(): Promise<void> {
  const asked = readConfig();
  const stop = stopSignal();
  const database = await openDatabase(asked, say, { milliseconds: asked.databaseWaitMs, say, signal: stop });
  try {
    const config = new Config({ ...asked, databaseUrl: database.url });
    const app = await createApp(config);
    try {
      await app.init();
      await listen(app.getHttpServer() as Server, config, 'PORT');
      await welcome(app, config, database, say);
      if (!stop.aborted) await once(stop, 'abort');
      await drain(app, config);
    } finally {
      await app.close();
    }
  } finally {
    await database.close();
    await stopTracing();
  }
}

/** Milliseconds that answers under way may take: a statement has two seconds; a delete that needs more is undone. */
const ANSWERS_WITHIN = 5_000;
/** Milliseconds in which a server looks for a moment in which nothing arrives. */
const QUIET_WITHIN = 1_000;
/** Milliseconds in which nothing arrived, at first; the longer it looks, the less it takes. */
const QUIET = 50;
/** Milliseconds of a turn of the event loop in which nothing is done. */
const QUIET_TURN = 0.02;

/**
 * Tells load balancers that this server is going, serves on while they take notice, and asks clients to close their
 * connections; then stops to listen, and waits for the answers that are under way, or still taken.
 */
async function drain(app: NestExpressApplication, { drainMs }: Config): Promise<void> {
  app.get(HealthController).isStopping = true;
  const server = app.getHttpServer() as Server;
  const { connections } = app.getHttpAdapter() as unknown as LeanExpressAdapter;
  connections.end();
  await pause(drainMs);
  const held = await nothingArrives(server);
  // Not HTTP's own, which first looks through all connections: meanwhile new ones would come.
  const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
  for (const socket of held) socket.resume();
  const late = setTimeout(() => server.closeAllConnections(), ANSWERS_WITHIN);
  // Again and again: not every answer that is still to be given closes its connection.
  for (let isClosed = false; !isClosed;) {
    // To Node a connection is idle once its answer was given, though the client may still be taking it.
    await connections.taken();
    server.closeIdleConnections();
    isClosed = await Promise.race([closed.then(() => true), pause(QUIET, false)]);
  }
  clearTimeout(late);
}

/**
 * A turn of the event loop takes one new connection from the system at most, and those that still wait there are reset
 * when the server stops to listen. So what is new is held, until everybody who would come waits for an answer, or at
 * least nobody came for a while; at load, each answer would bring the next connection. And it ends right after a turn
 * that brought nothing, and was so short that nothing else was done in it, during which one could have come.
 * @returns the connections that are held
 */
async function nothingArrives(server: Server): Promise<Socket[]> {
  const held: Socket[] = [];
  const begun = performance.now();
  let arrived = begun;
  server.on('connection', (socket: Socket) => {
    arrived = performance.now();
    held.push(socket);
    process.nextTick(() => socket.pause()); // HTTP resumes it at the end of this tick
  });
  server.on('request', () => void (arrived = performance.now()));
  for (let looked = 0; looked < 1;) {
    const before = performance.now();
    looked = (before - begun) / QUIET_WITHIN;
    if (before - arrived < QUIET * (1 - looked)) await pause(1);
    else {
      await new Promise(setImmediate);
      if (arrived < before && performance.now() - before < QUIET_TURN) break;
    }
  }
  return held;
}

/** @returns the status of an end that was not asked for */
function failed(error: unknown): number {
  // Told to stop while it waited for the database.
  if (error instanceof Error && error.name === 'AbortError') return 0;
  const isExpected = error instanceof ConfigError || error instanceof EmbeddedPostgresError;
  const fault = isExpected ? error.message : databaseFault(error);
  process.stderr.write(`${fault ?? (error instanceof Error ? error.stack : String(error))}\n`);
  return 1;
}

process.stderr.on('error', () => undefined); // a reader that has gone
void main()
  .then(() => 0, failed)
  .then(async (status) => {
    await endLog();
    // A stray handle must not keep a stopped server alive.
    process.exit(status);
  });
