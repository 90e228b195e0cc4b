import { setTimeout as pause } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { ConfigError } from '../../config';
import { NOT_READY } from '../../errors/sql-state-codes';
import { operatorDataSourceOptions, type OperatorOptions } from './data-source';
import { createDataSource } from './data-source.module';
import { driverErrorOf, hasSqlState, isConnectionError, sqlState } from './errors';

/** Milliseconds between the first two attempts to connect. The pause doubles after each attempt. */
export const FIRST_RETRY_DELAY_MS = 50;
export const MAX_RETRY_DELAY_MS = 1000;
/** Milliseconds for which every start waits for a PostgreSQL that is itself still starting. */
const RETRY_BUDGET_MS = 10_000;
/** Timeout of one attempt in milliseconds, so that a network that drops packets does not block the start forever. */
export const ATTEMPT_TIMEOUT_MS = 5000;

/** How a start waits for a PostgreSQL that does not respond. */
export interface StartupOptions {
  /** For how many milliseconds to retry. */
  retryForMs?: number;
  /** Prints one line when the wait begins. */
  log?: (line: string) => void;
  /** Ends the wait. */
  signal?: AbortSignal;
}

/**
 * Connects to the database without migrating it.
 * @throws ConfigError when it cannot be reached
 */
export async function connect(
  url: string,
  { retryForMs = 0, log, signal }: StartupOptions = {},
  operatorOptions: OperatorOptions = {},
): Promise<DataSource> {
  const startedAt = performance.now();
  for (let delayMs = FIRST_RETRY_DELAY_MS; ; delayMs = Math.min(2 * delayMs, MAX_RETRY_DELAY_MS)) {
    const options = { ...operatorDataSourceOptions(url, operatorOptions), connectTimeoutMS: ATTEMPT_TIMEOUT_MS };
    try {
      return await (await createDataSource(options)).initialize();
    } catch (error) {
      if (performance.now() - startedAt + delayMs > retryBudgetFor(error, retryForMs))
        throw unreachableError(url, error);
      if (delayMs === FIRST_RETRY_DELAY_MS)
        log?.(`Waiting for PostgreSQL at ${hostAndDatabase(url)}: ${(error as Error).message}`);
    }
    await pause(delayMs, undefined, { signal });
  }
}

function retryBudgetFor(error: unknown, milliseconds: number): number {
  if (hasSqlState(error, NOT_READY)) return Math.max(RETRY_BUDGET_MS, milliseconds);
  // A wrong host name is not retried, and neither is a wrong password or certificate.
  const isUnknownHost = (error as { code?: string }).code === 'ENOTFOUND';
  return isConnectionError(error) && !isUnknownHost && !isRejectedCertificate(error) ? milliseconds : 0;
}

/** Node.js gives a code to what it rejects in a certificate, and besides to failed system calls and to several errors in one. */
function isRejectedCertificate(error: unknown): boolean {
  const cause = driverErrorOf(error);
  return cause.code !== undefined && !('syscall' in cause || 'errors' in cause) && sqlState(error) === undefined;
}

/** An error that names the host, the database and the reason in one line, and never the password. */
export function unreachableError(url: string, error: unknown): ConfigError {
  const { code, message } = error as { code?: string; message: string };
  const reason = message.split('\n')[0] || code;
  return new ConfigError(`Cannot connect to the database at ${hostAndDatabase(url)} (DATABASE_URL): ${reason}`, {
    cause: error,
  });
}

function hostAndDatabase(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
