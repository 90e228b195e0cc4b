import { setTimeout as pause } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { ConfigError } from '../config';
import { NOT_READY } from '../errors/sql-states';
import { operatorDataSourceOptions, type OperatorOptions } from './data-source';
import { createDataSource } from './data-source.module';
import { hasSqlState } from './errors';

/** Milliseconds between two tries: the first, and the longest. */
export const FIRST_PAUSE = 50;
export const LONGEST_PAUSE = 1000;
/** Milliseconds for which everybody waits for a database that is itself starting. */
const PATIENCE = 10_000;
/** Milliseconds that a try may take, so that a network which swallows it does not hold the start for ever. */
export const CONNECT_TIMEOUT = 5000;

/** How a start bears a PostgreSQL that does not answer. */
export interface Waiting {
  /** milliseconds for which it is asked again */
  milliseconds?: number;
  /** called once, when the wait begins */
  say?: (line: string) => void;
  /** ends the waiting */
  signal?: AbortSignal;
}

/** No server answers yet or any more, or DNS does not. A wrong host name or password is final. */
const AWAY = /^(ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|EAI_AGAIN)$/;
const CUT_OFF = /^(Connection terminated|timeout expired)/;

/**
 * The database as it stands.
 * @throws ConfigError when it cannot be reached
 */
export async function connect(
  url: string,
  { milliseconds = 0, say, signal }: Waiting = {},
  operatorOptions: OperatorOptions = {},
): Promise<DataSource> {
  const started = performance.now();
  for (let wait = FIRST_PAUSE; ; wait = Math.min(2 * wait, LONGEST_PAUSE)) {
    const options = { ...operatorDataSourceOptions(url, operatorOptions), connectTimeoutMS: CONNECT_TIMEOUT };
    try {
      return await (await createDataSource(options)).initialize();
    } catch (error) {
      if (performance.now() - started + wait > patienceWith(error, milliseconds)) throw unreachable(url, error);
      if (wait === FIRST_PAUSE) say?.(`Waiting for PostgreSQL at ${placeOf(url)}: ${(error as Error).message}`);
    }
    await pause(wait, undefined, { signal });
  }
}

function patienceWith(error: unknown, milliseconds: number): number {
  if (hasSqlState(error, NOT_READY)) return Math.max(PATIENCE, milliseconds);
  const { code, message } = error as { code?: string; message: string };
  return AWAY.test(code ?? '') || CUT_OFF.test(message) ? milliseconds : 0;
}

/** Names the place and the reason, in one line, and never the password. */
export function unreachable(url: string, error: unknown): ConfigError {
  const { code, message } = error as { code?: string; message: string };
  const reason = message.split('\n')[0] || code;
  return new ConfigError(`Cannot connect to the database at ${placeOf(url)} (DATABASE_URL): ${reason}`, {
    cause: error,
  });
}

function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
