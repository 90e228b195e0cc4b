import type { DatabaseError } from 'pg';
import { QueryFailedError, QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';

/** The server takes no writes: it is a standby, perhaps since a moment ago. */
export const READ_ONLY = '25006';
/** Two transactions waited for each other, and this one was ended. */
export const DEADLOCK = '40P01';
/** A deadlock, a serialization failure, a row referred to that was deleted after it was looked at, and a primary that was. */
const TRANSIENT = [DEADLOCK, '40001', '23503', READ_ONLY];
const ATTEMPTS = 4;

/** Thrown by work that found the data changed under its hands: it is run again. */
export class TryAgain extends Error {}

/** Runs `work` again (three times at most) when it met another transaction in a way that a second run does not. */
export async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const transient = error instanceof TryAgain || TRANSIENT.includes(sqlState(error) ?? '');
      if (attempt === ATTEMPTS || !transient) throw error;
    }
  }
}

/** A lock was waited for as long as the session's `lock_timeout` lets it. */
export const LOCK_NOT_AVAILABLE = '55P03';

/** A statement took as long as the session's `statement_timeout` lets it, or somebody ended it. */
export const QUERY_CANCELED = '57014';

/** What PostgreSQL said, also through TypeORM. */
export const causeOf = (error: unknown): Partial<DatabaseError> =>
  (error instanceof QueryFailedError ? error.driverError : error instanceof Error ? error : {}) as object;

/** The five characters by which PostgreSQL names an error, or undefined when the error is not PostgreSQL's. */
export function sqlState(error: unknown): string | undefined {
  const { code } = causeOf(error);
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Whether the connection is as good as before the error: PostgreSQL answered, and neither ends it nor takes no writes. */
export function leavesConnection(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && state !== READ_ONLY && !/^(08|57P)/.test(state);
}

/** What a client can send and PostgreSQL cannot store: NUL, an unpaired surrogate, a number or a tsvector too large. */
const BAD_INPUT = ['22021', '22P05', '22003', '54000'];

/** Whether PostgreSQL refused a value, so that the request and not the server is at fault. */
export const isBadInput = (error: unknown): boolean => BAD_INPUT.includes(sqlState(error) ?? '');

/** Whether PostgreSQL refused a value or a row, so that others of the same statement are not at fault. */
export const isRefused = (error: unknown): boolean => isBadInput(error) || /^23/.test(sqlState(error) ?? '');

/** Whether PostgreSQL refused a row because of this unique index or constraint. */
export const violates = (error: unknown, constraint: string): boolean => causeOf(error).constraint === constraint;

/** One line about an error of the database, without the statement, its parameters, or a value of a row. */
export function databaseFault(error: unknown): string | undefined {
  const state = sqlState(error);
  const cause: unknown = causeOf(error);
  // PostgreSQL quotes the value in its messages about data (class 22) and, in part, about constraints (class 23).
  if (state && /^2[23]/.test(state)) return `the database refused a value (${state})`;
  if (ofNoConnection(error)) return 'the database failed: the connection was lost';
  const isOfDatabase = state !== undefined || error instanceof QueryFailedError || hasSystemCall(cause);
  if (!isOfDatabase || !(cause instanceof Error)) return undefined;
  return `the database failed: ${cause.message.split('\n')[0]}`;
}

/** Whether TypeORM has no connection to send a statement on, since it was lost after the one before. */
const ofNoConnection = (error: unknown): boolean =>
  error instanceof QueryRunnerAlreadyReleasedError || error instanceof QueryRunnerProviderAlreadyReleasedError;

const hasSystemCall = (error: unknown): boolean => error instanceof Error && 'syscall' in error;
