import { Logger } from '@nestjs/common';
import { CommanderError } from 'commander';
import { KeyExpiredOrRevoked } from '../access/api-keys.service';
import { ConfigError } from '../config';
import { databaseErrorMessage } from '../data/database/errors';
import type { Extension } from '../extensions/extension';
import { EmbeddedPostgresError } from '../data/embedded-postgres/embedded-postgres-error';
import { exitBySignal, Interrupted, signalExitStatus } from '../http/server/stop-signal';
import { BackupError } from '../exchange/backup/backup-file';
import { WebhookOfKey } from '../feed/webhooks/webhooks.service';
import { TooManyWebhooks } from '../errors/exceptions';
import { operatorProgram } from './commands';
import { ImportError } from '../exchange/datasets/import-error';
import { CommandError, printStatus } from './terminal/terminal';

/**
 * Runs the command of the process's arguments and ends the process.
 * @param serve starts the server
 */
export async function runCommand(extension: Extension | undefined, serve: () => Promise<void>): Promise<void> {
  // Standard output is for the command's result, and errors are thrown.
  Logger.overrideLogger(false);
  try {
    const program = await operatorProgram(extension, serve);
    if (process.argv.length > 2) await program.parseAsync(process.argv.slice(2), { from: 'user' });
    else program.outputHelp();
    process.exit(0);
  } catch (error) {
    const { message, status } = reportOf(error);
    if (message) printStatus(message);
    if (error instanceof Interrupted) exitBySignal(error.signal);
    process.exit(status);
  }
}

/** Errors of services whose message is one line for the operator. */
const EXPECTED_ERRORS = [
  ImportError,
  BackupError,
  ConfigError,
  EmbeddedPostgresError,
  KeyExpiredOrRevoked,
  TooManyWebhooks,
  WebhookOfKey,
];

/**
 * The message and the exit status for a command that failed. The message is one line for an expected error, and the stack
 * trace for a bug.
 */
export function reportOf(error: unknown): { message?: string; status: number } {
  // Commander has printed its own message. Help that was asked for is not an error.
  if (error instanceof CommanderError) return { status: error.exitCode === 0 ? 0 : 2 };
  if (error instanceof Interrupted) return { message: error.message, status: signalExitStatus(error.signal) };
  if (error instanceof CommandError) return { message: error.message, status: error.exitStatus };
  const isExpected = EXPECTED_ERRORS.some((kind) => error instanceof kind);
  if (isExpected) return { message: (error as Error).message, status: 1 };
  return { message: databaseErrorMessage(error) ?? (error instanceof Error ? error.stack : String(error)), status: 1 };
}
