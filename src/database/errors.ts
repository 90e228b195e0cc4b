import { isNativeError } from 'node:util/types';
import type { DatabaseError } from 'pg';
import { QueryFailedError, QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';

/** There is no such row, or it belongs to another organization. */
export class RowNotFound extends Error {}

/** Refused before anything was done, because the database has too much to do or cannot be reached. */
export class Overloaded extends Error {}

/** Work that was canceled after the time of a statement, in a transaction that begins anew with the time that it may have. */
export class NeedsMoreTime extends Overloaded {
  constructor(
    readonly timeMs: number,
    cause: unknown,
  ) {
    super('The statement needs more time', { cause });
  }
}

/** An Idempotency-Key whose first request is still running, or that was used for another request. */
export class IdempotencyConflict extends Error {
  constructor(readonly isRunning: boolean) {
    super(isRunning ? IdempotencyConflict.RUNNING : IdempotencyConflict.USED);
  }

  static readonly RUNNING = 'The first request with this Idempotency-Key is still running';
  static readonly USED = 'This Idempotency-Key was used for another request';
}

/** The connection was lost before the transaction's commit was sent, so that nothing was changed. */
export class NotCommitted extends Overloaded {
  constructor(cause: unknown) {
    super('The connection was lost before the commit', { cause });
  }
}

/** A large result, while another one of the organization is received: the rest of it is not wanted. */
export class LargeResult extends Overloaded {
  constructor() {
    super('Two large results of an organization at once');
  }
}

/** An answer that is too large to be stored for its Idempotency-Key, or for which its API key has no room left. */
export class AnswerTooLarge extends Error {}

/** The data changed while the work ran: it runs again, and is refused when that happens again and again. */
export class Retry extends Overloaded {}

/** The server accepts no writes: it is a standby, perhaps since a moment ago. */
const READ_ONLY = '25006';
export const DEADLOCK = '40P01';
const SERIALIZATION_FAILURE = '40001';
/** A row referred to was deleted after it was looked at. */
const FOREIGN_KEY_VIOLATION = '23503';
const TRANSIENT = [DEADLOCK, SERIALIZATION_FAILURE, FOREIGN_KEY_VIOLATION, READ_ONLY];
const MAX_ATTEMPTS = 4;

const isTransient = (error: unknown): boolean => error instanceof Retry || TRANSIENT.includes(sqlState(error) ?? '');

/** Runs `work` again after an error that a second run may not have, three times at most. */
export async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isTransient(error)) throw error;
    }
  }
}

/** The session's `lock_timeout` is over. */
export const LOCK_NOT_AVAILABLE = '55P03';

/** The session's `statement_timeout` is over, or the statement was cancelled. */
export const QUERY_CANCELED = '57014';

/** What PostgreSQL said, also through TypeORM. */
export const causeOf = (error: unknown): Partial<DatabaseError> =>
  (error instanceof QueryFailedError ? error.driverError : isNativeError(error) ? error : {}) as object;

/** The five characters by which PostgreSQL names an error, or undefined when the error is not PostgreSQL's. */
export function sqlState(error: unknown): string | undefined {
  const cause = causeOf(error);
  // EPIPE has five characters, too.
  if (hasSystemCall(cause)) return undefined;
  return typeof cause.code === 'string' && /^[0-9A-Z]{5}$/.test(cause.code) ? cause.code : undefined;
}

/**
 * Whether PostgreSQL lacks what the work needs (class 53): disk, memory, connections. Nothing was done. Its message names
 * files and sizes, and quotes no value.
 */
export const isOutOfResources = (error: unknown): boolean => /^53/.test(sqlState(error) ?? '');

/** Whether nothing was done because others have so much to do, or hold a lock, also when it was tried again. */
export const isOverload = (error: unknown): boolean =>
  error instanceof Overloaded ||
  isOutOfResources(error) ||
  [LOCK_NOT_AVAILABLE, QUERY_CANCELED, DEADLOCK].includes(sqlState(error) ?? '');

const UNREACHABLE = /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
/** The server starts, stops, or has no connection left. */
const NO_CONNECTION = ['57P03', '53300'];

/** What the pool says when it has no connection in time, and when it could not open one in time. */
const NO_CONNECTION_IN_TIME = /^(timeout exceeded when|Connection terminated due to connection timeout)/;

/** Whether there was no connection, so that nothing can have been done. */
export function isUnreachable(error: unknown): boolean {
  const { code, message } = causeOf(error);
  return (
    UNREACHABLE.test(code ?? '') || NO_CONNECTION.includes(code ?? '') || NO_CONNECTION_IN_TIME.test(message ?? '')
  );
}

const LOST = /^(Connection terminated|Query read timeout|Client has encountered)/;

/** Whether PostgreSQL did not answer, or the connection was lost: what was under way may be done or not. */
export function isConnectionFault(error: unknown): boolean {
  if (error instanceof NotCommitted || isLostByTypeOrm(error) || isUnreachable(error)) return true;
  const state = sqlState(error);
  const { message } = causeOf(error);
  return state ? /^(08|57P)/.test(state) : hasSystemCall(causeOf(error)) || LOST.test(message ?? '');
}

/** Whether the connection must be closed: it is lost, brings what nobody wants, or leads to a server that accepts no writes. */
export const breaksConnection = (error: unknown): boolean =>
  isConnectionFault(error) || error instanceof LargeResult || sqlState(error) === READ_ONLY;

/** What a client can send and PostgreSQL cannot store: NUL, an unpaired surrogate, a number or a tsvector too large. */
const BAD_INPUT = ['22021', '22P05', '22003', '54000'];

/** Whether PostgreSQL refused a value, so that the request and not the server is at fault. */
export const isBadInput = (error: unknown): boolean => BAD_INPUT.includes(sqlState(error) ?? '');

/** Whether PostgreSQL refused a value or a row, so that others of the same statement are not at fault. */
export const isRefused = (error: unknown): boolean => isBadInput(error) || /^23/.test(sqlState(error) ?? '');

/** Whether PostgreSQL refused a row because of this unique index or constraint. */
export const violates = (error: unknown, constraint: string): boolean => causeOf(error).constraint === constraint;

/** What a log may hold of an error of the background: its SQLSTATE, and PostgreSQL's words where they quote no value. */
export const logFields = (error: unknown): { sqlState?: string; reason?: string } => ({
  sqlState: sqlState(error),
  reason: isOutOfResources(error) ? causeOf(error).message : undefined,
});

/** One line about an error of the database, without the statement, its parameters, or a value of a row. */
export function databaseFault(error: unknown): string | undefined {
  const state = sqlState(error);
  const cause: unknown = causeOf(error);
  // PostgreSQL quotes the value in its messages about data (class 22) and, in part, about constraints (class 23).
  if (state && /^2[23]/.test(state)) return `the database refused a value (${state})`;
  if (isLostByTypeOrm(error)) return 'the database failed: the connection was lost';
  const isOfDatabase = state !== undefined || error instanceof QueryFailedError || hasSystemCall(cause);
  if (!isOfDatabase || !isNativeError(cause)) return undefined;
  return `the database failed: ${cause.message.split('\n')[0]}`;
}

/** The connection was lost after the statement before, and TypeORM has none for the next. */
const isLostByTypeOrm = (error: unknown): boolean =>
  error instanceof QueryRunnerAlreadyReleasedError || error instanceof QueryRunnerProviderAlreadyReleasedError;

const hasSystemCall = (error: unknown): boolean => isNativeError(error) && 'syscall' in error;
