import { CommanderError } from 'commander';
import { ExpectedError } from '../errors/expected-error';
import type { Extension } from '../extensions/extension';
import { exitBySignal, Interrupted, signalExitStatus } from '../http/server/stop-signal';
import { operatorProgram } from './commands';
import { CommandError, printStatus } from './terminal/terminal';

/**
 * Runs the command of the process's arguments and ends the process.
 * @param serve starts the server
 */
export async function runCommand(extension: Extension | undefined, serve: () => Promise<void>): Promise<void> {
  try {
    const args = process.argv.slice(2);
    const program = await operatorProgram(extension, serve, args);
    if (args.length > 0) await program.parseAsync(args, { from: 'user' });
    else program.outputHelp();
    process.exit(0);
  } catch (error) {
    const { message, status } = reportOf(error);
    if (message) printStatus(message);
    if (error instanceof Interrupted) exitBySignal(error.signal);
    process.exit(status);
  }
}

/**
 * The message and the exit status for a command that failed. The message is one line for an expected error, and the stack
 * trace for a bug.
 */
export function reportOf(error: unknown): { message?: string; status: number } {
  // Commander has printed its own message. Help that was asked for is not an error.
  if (error instanceof CommanderError) return { status: error.exitCode === 0 ? 0 : 2 };
  if (error instanceof Interrupted) return { message: error.message, status: signalExitStatus(error.signal) };
  if (error instanceof CommandError) return { message: error.message, status: error.exitStatus };
  if (error instanceof ExpectedError) return { message: error.message, status: 1 };
  // What the message of a database error is, is loaded with the database.
  const { databaseErrorMessage } = module.require(
    '../data/database/errors',
  ) as typeof import('../data/database/errors');
  return { message: databaseErrorMessage(error) ?? (error instanceof Error ? error.stack : String(error)), status: 1 };
}
