import type { INestApplicationContext } from '@nestjs/common';
import type { Client, PoolClient } from 'pg';
import { DataSource } from 'typeorm';
import { Config, ConfigError, readConfig } from '../config';
import { unreachableError } from '../data/database/connect';
import type { FeedResources } from '../feed/changes/feed-resource';
import { type Context, feedResourcesOf } from '../contexts';
import { poolOf } from '../data/database/data-source';
import { contextsOf, type Extension, extensionSchema } from '../extensions/extension';
import { factoryWith } from '../extensions/replaced-providers';
import { OpenDatabase, openDatabase, type OpenOptions } from '../data/schema/open';
import type { SchemaDefinition } from '../data/schema/schema-definition';
import { Interrupted, createStopSignal } from '../http/server/stop-signal';
import { OperatorModule } from './operator.module';
import { formatResult } from './terminal/table';
import { escapeForTerminal, print, printStatus } from './terminal/terminal';

/** What all commands of one invocation work with. */
export class Session {
  readonly contexts: readonly Context[];
  readonly feedResources: FeedResources;
  readonly schema: SchemaDefinition;
  /** The command under way, as the audit log names it. */
  command = 'command line';
  /** Whether it prints its result as JSON. */
  json = false;

  /** @param serve starts the server, for the command `start` */
  constructor(
    readonly extension: Extension,
    readonly serve?: () => Promise<void>,
  ) {
    this.contexts = contextsOf(extension);
    this.feedResources = feedResourcesOf(this.contexts);
    this.schema = extensionSchema(extension);
  }

  /**
   * Runs a command's work with the services of the OperatorModule on the configured database, and closes the database
   * afterwards.
   * @param work calls `finish` when it is about to commit, so that a later signal does not interrupt it
   * @param open opens the database; by default it applies all migrations
   * @param options more options to open it with
   * @throws Interrupted after a signal. The work's connections are closed, so PostgreSQL rolls back what is not committed.
   */
  async withServices<T>(
    work: (services: INestApplicationContext, database: OpenDatabase, finish: () => void) => Promise<T>,
    open: typeof openDatabase = openDatabase,
    options: Partial<OpenOptions> = {},
  ): Promise<T> {
    const stop = createStopSignal();
    const config = readConfig();
    const opening = { ...options, schema: this.schema, log: printStatus, signal: stop };
    const database = await open(config, printStatus, opening).catch((error: unknown) => {
      stop.throwIfAborted(); // A signal has ended the wait.
      throw error;
    });
    try {
      const services = await this.connectServices(new Config({ ...config, databaseUrl: database.url }), database.url);
      return await runUntilSignal(services, stop, (finish) => work(services, database, finish));
    } finally {
      await database.close();
    }
  }

  /**
   * Runs a command's work with the services, and prints its result.
   * @param hint what to know or to do beside the result
   */
  async run(work: (services: INestApplicationContext) => Promise<object>, hint?: string): Promise<void> {
    await this.print(await this.withServices(work), { hint });
  }

  /**
   * Prints the result of the command: one JSON value with `--json`, otherwise text.
   * @param shown what the text shows in place of the result, or the text
   */
  async print(
    result: object,
    { shown = result, hint = '' }: { shown?: object | string; hint?: string } = {},
  ): Promise<void> {
    const text = (): string => (typeof shown === 'string' ? shown : `${formatResult(shown)}\n${hint}`.trimEnd());
    await print(`${this.json ? JSON.stringify(result) : escapeForTerminal(text())}\n`).catch((error: Error) => {
      // Repeating the command may do its work twice.
      error.message += '. The command did its work, but the result was not shown.';
      throw error;
    });
  }

  /** @throws ConfigError if the database is unreachable, because connecting is all that happens before a command's work */
  private async connectServices(config: Config, url: string): Promise<INestApplicationContext> {
    const root = OperatorModule.with(config, this.extension, this.command);
    try {
      return await factoryWith(this.extension.providers).createApplicationContext(root, { abortOnError: false });
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      throw unreachableError(url, error);
    }
  }
}

/**
 * Runs work with services, and closes them.
 * @param work calls `finish` when a signal must not interrupt it any more
 * @throws Interrupted after a signal, without waiting for the work
 */
async function runUntilSignal<T>(
  services: INestApplicationContext,
  stop: AbortSignal,
  work: (finish: () => void) => Promise<T>,
): Promise<T> {
  stop.throwIfAborted();
  const usedConnections = new Set<Client>();
  poolOf(services.get(DataSource)).on('acquire', (client) => usedConnections.add(client as PoolClient & Client));
  let isFinishing = false;
  const interruption = new Promise<never>((_, reject) => {
    stop.addEventListener('abort', () => isFinishing || reject(stop.reason as Interrupted));
  });
  try {
    return await Promise.race([work(() => (isFinishing = true)), interruption]);
  } catch (error) {
    // Closing the connections does not wait for the running statement.
    if (error instanceof Interrupted) for (const client of usedConnections) client.end().catch(() => undefined);
    throw error;
  } finally {
    // Interrupted work may never return its connection, because it may be waiting for input.
    if (!stop.aborted) await services.close();
  }
}
