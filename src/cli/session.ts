import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import { readConfig } from '../config';
import { connect } from '../database/connect';
import { poolOf } from '../database/data-source';
import { OpenDatabase, openDatabase } from '../database/open';
import { Interrupted, stopSignal } from '../stop-signal';
import { say } from './terminal/terminal';

/**
 * Runs a command's work on the database of the settings and closes it afterwards.
 * @param work may hold a signal, and release it: during a commit it is unknown whether the work will be stored
 * @param open opens the database; by default with all migrations applied
 * @throws Interrupted after a signal: the work's connections are cut, so PostgreSQL rolls back what is not committed
 */
export async function withDatabase<T>(
  work: (dataSource: DataSource, database: OpenDatabase, hold: (isHeld: boolean) => void) => Promise<T>,
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
    const { interruption, hold } = interruptionBy(stop);
    try {
      return await Promise.race([work(dataSource, database, hold), interruption]);
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

/** A promise that rejects with the `Interrupted` of the first signal, unless and until that is held. */
function interruptionBy(stop: AbortSignal) {
  let isHeld = false;
  let interrupt = (): void => undefined;
  const interruption = new Promise<never>((_, reject) => {
    interrupt = () => {
      if (stop.aborted && !isHeld) reject(stop.reason as Interrupted);
    };
  });
  interrupt(); // it may have come while the connection was being made
  stop.addEventListener('abort', interrupt);
  const hold = (held: boolean): void => {
    isHeld = held;
    interrupt();
  };
  return { interruption, hold };
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
