import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import { readConfig } from '../config';
import { connect } from '../database/connect';
import { poolOf } from '../database/data-source';
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

  /** Delays a signal, or releases it: during a commit it is unknown whether the work will be stored. */
  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    this.interrupt();
  }
}

/**
 * Runs a command's work on the database of the settings and closes it afterwards.
 * @param open opens the database; by default with all migrations applied
 * @throws Interrupted after a signal: the work's connections are cut, so PostgreSQL rolls back what is not committed
 */
export async function withDatabase<T>(
  work: (dataSource: DataSource, database: OpenDatabase, signals: Signals) => Promise<T>,
  open: typeof openDatabase = openDatabase,
): Promise<T> {
  const config = readConfig();
  const stop = stopSignal();
  const database = await open(config, say, { say, signal: stop }).catch((error: unknown) => {
    stop.throwIfAborted(); // the signal ended the wait
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
      // Interrupted work may never return its connection: it may be waiting for its input.
      if (!stop.aborted) await dataSource.destroy();
    }
  } finally {
    await database.close();
  }
}

/** @returns a function that ends the connections in use at that moment */
function cutterOf(dataSource: DataSource): () => void {
  const pool = poolOf(dataSource);
  const inUse = new Set<PoolClient>();
  pool.on('acquire', (client) => void inUse.add(client));
  pool.on('release', (_, client) => void inUse.delete(client));
  return () => {
    // A client of a pool is a pg Client, whose end() does not wait for the running statement.
    for (const client of inUse as Set<PoolClient & { end(): Promise<void> }>) client.end().catch(() => undefined);
  };
}
