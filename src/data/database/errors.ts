import { isNativeError } from 'node:util/types';
import type { DatabaseError } from 'pg';
import { QueryFailedError, QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { ERRORS } from '../../errors/error-table';
import { LargeResult, NotCommitted, Overloaded, ConcurrentChange } from '../../errors/exceptions';
import {
  CONNECTION_LOST,
  QUOTES_NO_VALUE,
  QUOTES_VALUE,
  READ_ONLY,
  REJECTED_ROW,
  type SqlStates,
  TRANSIENT,
  UNEXPECTED_MESSAGE,
} from '../../errors/sql-state-codes';

const MAX_ATTEMPTS = 4;

const isTransient = (error: unknown): boolean => error instanceof ConcurrentChange || hasSqlState(error, TRANSIENT);

/** Runs `work` again after an error that a second run may not have, three times at most. */
export async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isTransient(error)) throw error;
    }
  }
}

/** The error of PostgreSQL, unwrapped from TypeORM's. */
export const postgresErrorOf = (error: unknown): Partial<DatabaseError> =>
  (error instanceof QueryFailedError ? error.driverError : isNativeError(error) ? error : {}) as object;

/** The five characters by which PostgreSQL names an error, or undefined when the error is not PostgreSQL's. */
export function sqlState(error: unknown): string | undefined {
  const cause = postgresErrorOf(error);
  // EPIPE has five characters, too.
  if (hasSystemCall(cause)) return undefined;
  return typeof cause.code === 'string' && /^[0-9A-Z]{5}$/.test(cause.code) ? cause.code : undefined;
}

/** Whether PostgreSQL reported one of these codes. */
export function hasSqlState(error: unknown, states: SqlStates): boolean {
  const state = sqlState(error);
  return state !== undefined && states.some((each) => state.startsWith(each));
}

/** Whether PostgreSQL lacks disk, memory or connections for the work. */
export const isOutOfResources = (error: unknown): boolean => hasSqlState(error, ERRORS.outOfResources.sqlStates);

/** Whether nothing was done because of too much load or a lock, even after retries. */
export const isOverload = (error: unknown): boolean =>
  error instanceof Overloaded || isOutOfResources(error) || hasSqlState(error, ERRORS.overloaded.sqlStates);

const UNREACHABLE_CODES = /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

/** The messages of the pool when no connection is free in time, and when none could be opened in time. */
const CONNECTION_TIMEOUT_MESSAGE = /^(timeout exceeded when|Connection terminated due to connection timeout)/;

/** Whether there was no connection, so that nothing can have been done. */
export function isUnreachable(error: unknown): boolean {
  const { code, message } = postgresErrorOf(error);
  if (hasSqlState(error, ERRORS.databaseUnreachable.sqlStates)) return true;
  return UNREACHABLE_CODES.test(code ?? '') || CONNECTION_TIMEOUT_MESSAGE.test(message ?? '');
}

const CONNECTION_LOST_MESSAGE = /^(Connection terminated|timeout expired|Query read timeout|Client has encountered)/;

/** Whether PostgreSQL did not respond or the connection was lost. The work under way may or may not be done. */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof NotCommitted || isLostByTypeOrm(error) || isUnreachable(error)) return true;
  const state = sqlState(error);
  const { message, severity } = postgresErrorOf(error);
  if (hasSqlState(error, UNEXPECTED_MESSAGE)) return severity === 'FATAL';
  if (state) return hasSqlState(error, CONNECTION_LOST);
  return hasSystemCall(postgresErrorOf(error)) || CONNECTION_LOST_MESSAGE.test(message ?? '');
}

/** Whether the connection must be closed: it is lost, still delivers an unwanted result, or its server accepts no writes. */
export const requiresNewConnection = (error: unknown): boolean =>
  isConnectionError(error) || error instanceof LargeResult || hasSqlState(error, READ_ONLY);

/** Whether PostgreSQL rejected a value or a row, so that other rows of the same statement are not to blame. */
export const isRejectedRow = (error: unknown): boolean => hasSqlState(error, REJECTED_ROW);

/** Whether PostgreSQL rejected a row because of this unique index or constraint. */
export const violatesConstraint = (error: unknown, constraint: string): boolean =>
  postgresErrorOf(error).constraint === constraint;

/** What a log may hold of an error of the background: its SQLSTATE, and PostgreSQL's words where they quote no value. */
export const logFields = (error: unknown): { sqlState?: string; reason?: string } => ({
  sqlState: sqlState(error),
  reason: isOutOfResources(error) ? postgresErrorOf(error).message : undefined,
});

/** Whether a trigger or a function raised the error itself, by `raise exception`, so that the message is its author's. */
const isRaised = (error: unknown): boolean => postgresErrorOf(error).routine === 'exec_stmt_raise';

/** The message of PostgreSQL for the log, if it quotes no value. */
export const loggableMessage = (error: unknown): string | undefined =>
  isRaised(error) || hasSqlState(error, QUOTES_NO_VALUE) ? postgresErrorOf(error).message : undefined;

/** One line about an error of the database, without the statement, its parameters, or a value of a row. */
export function databaseErrorMessage(error: unknown): string | undefined {
  const state = sqlState(error);
  const cause: unknown = postgresErrorOf(error);
  if (hasSqlState(error, QUOTES_VALUE) && !isRaised(error))
    return `Database error: a value was rejected (SQLSTATE ${state}).`;
  const isOfDatabase = state !== undefined || error instanceof QueryFailedError || hasSystemCall(cause);
  if (isOfDatabase && isNativeError(cause)) return `Database error: ${cause.message.split('\n')[0]}`;
  return isConnectionError(error) ? 'Database error: the connection was lost.' : undefined;
}

/** The connection was lost after the statement before, and TypeORM has none for the next. */
const isLostByTypeOrm = (error: unknown): boolean =>
  error instanceof QueryRunnerAlreadyReleasedError || error instanceof QueryRunnerProviderAlreadyReleasedError;

const hasSystemCall = (error: unknown): boolean => isNativeError(error) && 'syscall' in error;
