import { CommanderError } from 'commander';
import { ConfigError } from '../../config';
import { EmbeddedPostgresError } from '../../embedded-postgres/embedded-postgres-error';
import { databaseFault } from '../../database/errors';
import { ImportFault } from '../import/import-fault';
import { Interrupted, statusOf } from '../../stop-signal';
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
  if (error instanceof Interrupted) return { message: error.message, status: statusOf(error.signal) };
  if (error instanceof UsageError) return { message: `error: ${error.message}\n(add --help for usage)`, status: 2 };
  const isExpected = [Refusal, ImportFault, ConfigError, EmbeddedPostgresError].some((kind) => error instanceof kind);
  if (isExpected) return { message: (error as Error).message, status: 1 };
  return { message: databaseFault(error) ?? (error instanceof Error ? error.stack : String(error)), status: 1 };
}
