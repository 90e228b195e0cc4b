import { DatabaseError } from 'pg';
import { QueryFailedError, QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { ConnectionFailed } from './connection-pool';
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

/**
 * The error of a statement that runs without TypeORM, which wraps those of its own statements in the same way. An error that is
 * not wrapped is not the database's, whatever its properties.
 */
export const queryFailed = (statement: string, error: Error): QueryFailedError =>
  new QueryFailedError(statement, undefined, error);

/** Waits for a statement that runs without TypeORM. @throws QueryFailedError */
export async function settledQuery<T>(statement: string, query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    // The pool wraps what happens before there is a connection.
    throw error instanceof ConnectionFailed ? error : queryFailed(statement, error as Error);
  }
}

/** The error of the driver, or an empty object when the error is not the database's. */
export const driverErrorOf = (error: unknown): Partial<DatabaseError> =>
  (error instanceof QueryFailedError ? error.driverError : {}) as object;

/** The five characters by which PostgreSQL names an error, or undefined when the error is not PostgreSQL's. */
export function sqlState(error: unknown): string | undefined {
  const cause = driverErrorOf(error);
  return cause instanceof DatabaseError ? cause.code : undefined;
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

/** Whether there was no connection, so that nothing can have been done. A rejected password is no such case. */
export function isUnreachable(error: unknown): boolean {
  if (hasSqlState(error, ERRORS.databaseUnreachable.sqlStates)) return true;
  return error instanceof ConnectionFailed && sqlState(error) === undefined;
}

/** How the driver says that a statement has no connection any more. */
const CONNECTION_LOST_MESSAGE = /^(Connection terminated|timeout expired|Query read timeout|Client has encountered)/;

/** Whether PostgreSQL did not respond or the connection was lost. The work under way may or may not be done. */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof NotCommitted || isLostByTypeOrm(error) || isUnreachable(error)) return true;
  const state = sqlState(error);
  const cause = driverErrorOf(error);
  if (hasSqlState(error, UNEXPECTED_MESSAGE)) return cause.severity === 'FATAL';
  if (state) return hasSqlState(error, CONNECTION_LOST);
  return 'syscall' in cause || CONNECTION_LOST_MESSAGE.test(cause.message ?? '');
}

/** Whether the connection must be closed: it is lost, still delivers an unwanted result, or its server accepts no writes. */
export const requiresNewConnection = (error: unknown): boolean =>
  isConnectionError(error) || error instanceof LargeResult || hasSqlState(error, READ_ONLY);

/** Whether PostgreSQL rejected a value or a row, so that other rows of the same statement are not to blame. */
export const isRejectedRow = (error: unknown): boolean => hasSqlState(error, REJECTED_ROW);

/** Whether PostgreSQL rejected a row because of this unique index or constraint. */
export const violatesConstraint = (error: unknown, constraint: string): boolean =>
  driverErrorOf(error).constraint === constraint;

/** What a log may hold of an error of the background: its SQLSTATE, and PostgreSQL's words where they quote no value. */
export const logFields = (error: unknown): { sqlState?: string; reason?: string } => ({
  sqlState: sqlState(error),
  reason: isOutOfResources(error) ? driverErrorOf(error).message : undefined,
});

/** Whether a trigger or a function raised the error itself, by `raise exception`, so that the message is its author's. */
const isRaised = (error: unknown): boolean => driverErrorOf(error).routine === 'exec_stmt_raise';

/** The message of PostgreSQL for the log, if it quotes no value. */
export const loggableMessage = (error: unknown): string | undefined =>
  isRaised(error) || hasSqlState(error, QUOTES_NO_VALUE) ? driverErrorOf(error).message : undefined;

/** One line about an error of the database, without the statement, its parameters, or a value of a row. */
export function databaseErrorMessage(error: unknown): string | undefined {
  if (hasSqlState(error, QUOTES_VALUE) && !isRaised(error))
    return `Database error: a value was rejected (SQLSTATE ${sqlState(error)}).`;
  const { message } = driverErrorOf(error);
  if (message) return `Database error: ${message.split('\n')[0]}`;
  return isConnectionError(error) ? 'Database error: the connection was lost.' : undefined;
}

/** The connection was lost after the statement before, and TypeORM has none for the next. */
const isLostByTypeOrm = (error: unknown): boolean =>
  error instanceof QueryRunnerAlreadyReleasedError || error instanceof QueryRunnerProviderAlreadyReleasedError;
