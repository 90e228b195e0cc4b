import { constants } from 'node:os';
import { CommanderError } from 'commander';
import { QueryFailedError } from 'typeorm';
import { ConfigError } from '../config';
import { EmbeddedPostgresError } from '../database/embedded/embedded-postgres-error';
import { sqlState } from '../database/errors';
import { ImportFault } from './import-fault';
import { Interrupted } from './session';
import { OutputClosed, Refusal, UsageError } from './terminal';

/** What a command that failed says, and the exit status of the process. */
export interface Report {
  message?: string;
  status: number;
}

/** The report of an error: one line for everything that can happen, the whole story for what should not. */
export function reportOf(error: unknown): Report {
  // commander has said its own already; help that was asked for is no error
  if (error instanceof CommanderError) return { status: error.exitCode === 0 ? 0 : 2 };
  // as a shell says of SIGPIPE, which Node ignores: what nobody was told may not pass for done
  if (error instanceof OutputClosed) return { message: error.message, status: 141 };
  if (error instanceof Interrupted) return { message: error.message, status: 128 + constants.signals[error.signal] };
  if (error instanceof UsageError) return { message: `error: ${error.message}\n(add --help for usage)`, status: 2 };
  const isExpected = [Refusal, ImportFault, ConfigError, EmbeddedPostgresError].some((kind) => error instanceof kind);
  if (isExpected) return { message: (error as Error).message, status: 1 };
  return { message: databaseReport(error) ?? (error instanceof Error ? error.stack : String(error)), status: 1 };
}

/** One line about an error of the database, without the statement, its parameters, or a value of a row. */
function databaseReport(error: unknown): string | undefined {
  const state = sqlState(error);
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
  // PostgreSQL quotes the value in its messages about data (class 22) and, in part, about constraints (class 23).
  if (state && /^2[23]/.test(state)) return `the database refused a value (${state})`;
  const isOfDatabase = state !== undefined || error instanceof QueryFailedError || hasSystemCall(cause);
  if (!isOfDatabase || !(cause instanceof Error)) return undefined;
  return `the database failed: ${cause.message.split('\n')[0]}`;
}

const hasSystemCall = (error: unknown): boolean => error instanceof Error && 'syscall' in error;
