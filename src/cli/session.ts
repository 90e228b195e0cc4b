import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import { readConfig } from '../config';
import { poolOf } from '../database/data-source';
import { connect } from '../database/connect';
import { OpenDatabase, openDatabase } from '../database/open';
import { Interrupted, stopSignal } from '../stop-signal';
import { say } from './terminal/terminal';

/** The signals of the process, for one piece of work. */
export class Signals {
  private isHeld = false;
  private interrupt: () => void = () => undefined;
  /** Rejects, with an `Interrupted`, at the first signal. */
  readonly interruption: Promise<never>;

  constructor(stop: AbortSignal) {
    this.interruption = new Promise((_, reject) => {
      this.interrupt = () => {
        if (stop.aborted && !this.isHeld) reject(stop.reason as Interrupted);
      };
    });
    // It may have come while the connection was being made.
    this.interrupt();
    stop.addEventListener('abort', this.interrupt);
  }

  /** Has a signal wait, or lets it come: while PostgreSQL commits, nobody else can say what is stored. */
  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    this.interrupt();
  }
}

/**
 * Runs a command's work on the database that the settings name, and closes it after.
 * @param open how the database is opened; migrated, unless told otherwise
 * @throws Interrupted when the process was told to stop: the work's connections are cut, so PostgreSQL takes back what
 * was not committed
 */
export async function withDatabase<T>(
  work: (dataSource: DataSource, database: OpenDatabase, signals: Signals) => Promise<T>,
  open: typeof openDatabase = openDatabase,
): Promise<T> {
  const config = readConfig();
  const stop = stopSignal();
  const database = await open(config, say, { say, signal: stop }).catch((error: unknown) => {
    stop.throwIfAborted(); // it was waiting
    throw error;
  });
  try {
    stop.throwIfAborted();
    const dataSource = await connect(database.url);
    const cut = cutterOf(dataSource);
    const signals = new Signals(stop);
    try {
      return await Promise.race([work(dataSource, database, signals), signals.interruption]);
    } catch (error) {
      if (error instanceof Interrupted) cut();
      throw error;
    } finally {
      // What was cut may never give its connection back: it may be waiting for a line that does not come.
      if (!stop.aborted) await dataSource.destroy();
    }
  } finally {
    await database.close();
  }
}

/** Ends the connections that are at work when it is called. */
function cutterOf(dataSource: DataSource): () => void {
  const pool = poolOf(dataSource);
  const atWork = new Set<PoolClient>();
  pool.on('acquire', (client) => void atWork.add(client));
  pool.on('release', (_, client) => void atWork.delete(client));
  return () => {
    // A client of a pool is a pg Client, whose end() does not wait for the statement under way.
    for (const client of atWork as Set<PoolClient & { end(): Promise<void> }>) client.end().catch(() => undefined);
  };
}
