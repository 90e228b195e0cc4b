import 'reflect-metadata';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { version } from '../../package.json';
import { createApp } from '../app';
import { Config, ConfigError, DATABASE_WAIT_MS, readConfig, unknownSettings } from '../config';
import { EmbeddedPostgresError } from '../data/embedded-postgres/embedded-postgres-error';
import { databaseErrorMessage } from '../data/database/errors';
import { type Extension, extensionSchema } from '../extensions/extension';
import { type OpenOptions, openDatabase } from '../data/schema/open';
import { COMMAND_NAME } from '../operator/command-name';
import { announce, flushLog, logToStandardError } from '../observability/log';
import { disablePretenuring } from '../http/server/heap-limit';
import { listen } from '../http/server/listen';
import { LocalLimits } from '../http/rate-limit/local-limits';
import { createStopSignal } from '../http/server/stop-signal';
import { announcePausedWebhooks } from '../feed/changes/announce-paused';
import { printWelcome } from './first-start';
import { stopServer } from './stop';

/** Announces lines, the version before the first: a start that is refused at once has one line alone, of why. */
function createAnnouncer(): (line: string) => void {
  let isFirst = true;
  return (line) => {
    if (isFirst) announce(`Lanyard ${version}`);
    isFirst = false;
    announce(line);
  };
}

/** Starts, listens, and stops on a signal. */
async function serveUntilStopped(extension: Extension, json: boolean): Promise<void> {
  // Until the application has its own, nothing is logged: what there is to say at a start is announced.
  Logger.overrideLogger(false);
  const log = createAnnouncer();
  const settings = readConfig();
  const stop = createStopSignal();
  const opening: OpenOptions = {
    schema: extensionSchema(extension),
    retryForMs: DATABASE_WAIT_MS,
    log,
    signal: stop,
    keepRunning: true,
    createIfMissing: true,
  };
  const database = await openDatabase(settings, log, opening);
  try {
    const config = new Config({ ...settings, databaseUrl: database.url });
    const app = await createApp(config, undefined, extension);
    try {
      await app.init();
      await listen(app.getHttpServer() as Server, config, 'PORT');
      if (config.simulate !== 'off')
        log('LANYARD_SIMULATE is on: requests can ask for simulated faults (header Lanyard-Simulate)');
      for (const warning of [unknownSettings(), await app.get(LocalLimits).warning()]) if (warning) log(warning);
      const welcome = await printWelcome(app, config, database, COMMAND_NAME, log);
      if (json) process.stdout.write(`${JSON.stringify(welcome)}\n`);
      await announcePausedWebhooks(app.get(DataSource), config, COMMAND_NAME, log);
      if (!stop.aborted) await once(stop, 'abort');
      await stopServer(app, config);
    } finally {
      await app.close();
    }
  } finally {
    await database.close();
  }
}

/** @returns the status of an end that was not asked for */
function exitStatusFor(error: unknown): number {
  // A signal came while it waited for the database.
  if (error instanceof Error && error.name === 'AbortError') return 0;
  const isExpected = error instanceof ConfigError || error instanceof EmbeddedPostgresError;
  const message = isExpected ? error.message : databaseErrorMessage(error);
  process.stderr.write(`${message ?? (error instanceof Error ? error.stack : String(error))}\n`);
  return 1;
}

/**
 * Runs the server, with the modules of an extension, until a signal stops it, and ends the process.
 * @param json whether standard output gets one JSON value when the server is ready, and everything else goes to standard error
 */
export async function serve(extension: Extension = {}, json = false): Promise<never> {
  disablePretenuring();
  if (json) logToStandardError();
  process.stderr.on('error', () => undefined); // a reader that has gone
  const status = await serveUntilStopped(extension, json).then(() => 0, exitStatusFor);
  await flushLog();
  // A stray handle must not keep a stopped server alive.
  process.exit(status);
}
