import 'reflect-metadata';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { version } from '../package.json';
import { createApp } from './app';
import { Config, ConfigError, readConfig, unknownSettings } from './config';
import { EmbeddedPostgresError } from './embedded-postgres/embedded-postgres-error';
import { databaseFault } from './database/errors';
import { type Extension, extensionSchema } from './extensions/extension';
import { openDatabase } from './schema/open';
import { HealthController } from './observability/health.controller';
import { announce, endLog } from './observability/log';
import type { LeanExpressAdapter } from './server/express-adapter';
import { listen } from './server/listen';
import { drain } from './server/shutdown';
import { stopSignal } from './server/stop-signal';
import { announcePausedWebhooks } from './webhooks/announce-paused';
import { WebhookSender } from './webhooks/webhook-sender';
import { welcome } from './demo/first-start';

/** Announces lines, the version before the first: a start that is refused at once has one line alone, of why. */
function announcer(): (line: string) => void {
  let isFirst = true;
  return (line) => {
    if (isFirst) announce(`Lanyard ${version}`);
    isFirst = false;
    announce(line);
  };
}

/** Starts, listens, and stops on a signal. */
async function serveUntilStopped(extension: Extension): Promise<void> {
  // Until the application has its own, nothing is logged: what there is to say at a start is announced.
  Logger.overrideLogger(false);
  const say = announcer();
  const asked = readConfig();
  const stop = stopSignal();
  const opening = {
    schema: extensionSchema(extension),
    milliseconds: asked.databaseWaitMs,
    say,
    signal: stop,
    keepRunning: true,
  };
  const database = await openDatabase(asked, say, opening);
  try {
    const config = new Config({ ...asked, databaseUrl: database.url });
    const app = await createApp(config, undefined, extension);
    try {
      await app.init();
      await listen(app.getHttpServer() as Server, config, 'PORT');
      if (config.simulate !== 'off')
        say('LANYARD_SIMULATE is on: requests can ask for simulated faults (header Lanyard-Simulate)');
      const unknown = unknownSettings();
      if (unknown) say(unknown);
      await welcome(app, config, database, say);
      await announcePausedWebhooks(app.get(DataSource), config, say);
      if (!stop.aborted) await once(stop, 'abort');
      app.get(HealthController).isStopping = true;
      void app.get(WebhookSender).stop();
      const adapter = app.getHttpAdapter() as unknown as LeanExpressAdapter;
      await drain(app.getHttpServer() as Server, adapter, config.drainMs);
    } finally {
      await app.close();
    }
  } finally {
    await database.close();
  }
}

/** @returns the status of an end that was not asked for */
function failed(error: unknown): number {
  // A signal came while it waited for the database.
  if (error instanceof Error && error.name === 'AbortError') return 0;
  const isExpected = error instanceof ConfigError || error instanceof EmbeddedPostgresError;
  const fault = isExpected ? error.message : databaseFault(error);
  process.stderr.write(`${fault ?? (error instanceof Error ? error.stack : String(error))}\n`);
  return 1;
}

/** Runs the server, with the modules of an extension, until a signal stops it, and ends the process. */
export async function serve(extension: Extension = {}): Promise<never> {
  process.stderr.on('error', () => undefined); // a reader that has gone
  const status = await serveUntilStopped(extension).then(() => 0, failed);
  await endLog();
  // A stray handle must not keep a stopped server alive.
  process.exit(status);
}
