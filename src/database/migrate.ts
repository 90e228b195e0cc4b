import { setTimeout as pause } from 'node:timers/promises';
import { DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { ConfigError } from '../config';
import { operatorDataSourceOptions } from './data-source';
import { DEADLOCK, LOCK_NOT_AVAILABLE, sqlState } from './transaction';

/** Any constant: all processes that migrate one database must take the same lock. */
const MIGRATION_LOCK = 7_261_914;
/** Milliseconds for which everybody waits for a database that is itself starting. */
const PATIENCE = 10_000;
/** Milliseconds between two tries: the first, and the longest. */
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 1000;
/** Milliseconds for which a migration waits for a table, with all requests for it behind: fewer than a statement has. */
const GIVES_WAY = 1000;
/** Milliseconds that a try may take, so that a network which swallows it does not hold the start for ever. */
const CONNECT_TIMEOUT = 5000;

/** How a start bears a PostgreSQL that does not answer. */
export interface Waiting {
  /** milliseconds for which it is asked again */
  milliseconds?: number;
  /** told once that there is something to wait for */
  say?: (line: string) => void;
  /** ends the waiting */
  signal?: AbortSignal;
}

/**
 * Applies the migrations that are missing. Processes that start at the same time take turns by an advisory lock,
 * which PostgreSQL lets go when its holder dies.
 * @returns the names of the migrations that were applied
 * @throws ConfigError when the database cannot be reached
 */
export async function migrate(url: string, waiting: Waiting = {}): Promise<string[]> {
  const dataSource = await connect(url, waiting, `-c lock_timeout=${GIVES_WAY}`);
  try {
    const lock = dataSource.createQueryRunner();
    await lock.connect();
    try {
      await take(lock, waiting);
      return await applyMissing(dataSource, waiting);
    } finally {
      await lock.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
      await lock.release();
    }
  } finally {
    await dataSource.destroy();
  }
}

/** Tries of the lock after which there is something to say: those who start together are done sooner. */
const TRIES_OF_A_START = 5;

/** Asks for the lock again and again: a statement that waits for it would hear of no signal. */
async function take(lock: QueryRunner, { say, signal }: Waiting): Promise<void> {
  for (let tries = 0; ; tries++) {
    const [answer] = (await lock.query('select pg_try_advisory_lock($1) as taken', [MIGRATION_LOCK])) as [
      { taken: boolean },
    ];
    if (answer.taken) return;
    if (tries === TRIES_OF_A_START) say?.('Waiting for another process that migrates the database');
    await pause(Math.min(FIRST_PAUSE * 2 ** tries, LONGEST_PAUSE), undefined, { signal });
  }
}

/**
 * A migration that waits for a table, which an import may hold for minutes, has all requests for that table wait behind
 * it: so it gives way, and tries again.
 */
async function applyMissing(dataSource: DataSource, { say, signal }: Waiting): Promise<string[]> {
  const missing = await new MigrationExecutor(dataSource).getPendingMigrations();
  for (let isTold = false; ; isTold = true) {
    try {
      await dataSource.runMigrations();
      return missing.map(({ name }) => name);
    } catch (error) {
      if (![DEADLOCK, LOCK_NOT_AVAILABLE].includes(sqlState(error) ?? '')) throw error;
      if (!isTold) say?.('Waiting for an import, or another long transaction, before the database can be migrated');
      await pause(LONGEST_PAUSE, undefined, { signal });
    }
  }
}

/** PostgreSQL is there, but still in recovery or shutting down, or has no connection left. */
const NOT_YET = ['57P01', '57P02', '57P03', '53300'];

/** Nobody is there yet, or was there and went. A wrong host name or password does not pass. */
const AWAY = /^(ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH)$/;
const CUT_OFF = /^(Connection terminated|timeout expired)/;

/**
 * The database as it stands.
 * @param session settings of its sessions, as PostgreSQL's options
 * @throws ConfigError when it cannot be reached
 */
export async function connect(
  url: string,
  { milliseconds = 0, say, signal }: Waiting = {},
  session = '',
): Promise<DataSource> {
  const started = performance.now();
  for (let wait = FIRST_PAUSE; ; wait = Math.min(2 * wait, LONGEST_PAUSE)) {
    const options = { ...operatorDataSourceOptions(url, session), connectTimeoutMS: CONNECT_TIMEOUT };
    try {
      return await new DataSource(options).initialize();
    } catch (error) {
      if (performance.now() - started + wait > patienceWith(error, milliseconds)) throw unreachable(url, error);
      if (wait === FIRST_PAUSE) say?.(`Waiting for PostgreSQL at ${placeOf(url)}: ${(error as Error).message}`);
    }
    await pause(wait, undefined, { signal });
  }
}

function patienceWith(error: unknown, milliseconds: number): number {
  if (NOT_YET.includes(sqlState(error) ?? '')) return Math.max(PATIENCE, milliseconds);
  const { code, message } = error as { code?: string; message: string };
  return AWAY.test(code ?? '') || CUT_OFF.test(message) ? milliseconds : 0;
}

/** Names the place and the reason, in one line, and never the password. */
function unreachable(url: string, error: unknown): ConfigError {
  const { code, message } = error as { code?: string; message: string };
  const reason = message.split('\n')[0] || code;
  return new ConfigError(`DATABASE_URL: cannot connect to ${placeOf(url)}: ${reason}`, { cause: error });
}

function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
