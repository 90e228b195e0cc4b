import { getSystemErrorMap } from 'node:util';
import { escapeInvisible } from '../../fields/invisible';

/** A command failed for a reason that the operator can do something about. The exit status is 1. */
export class CommandError extends Error {
  readonly exitStatus: number = 1;
}

/** A command was used wrongly. Commander reports it, as it reports its own errors, and the exit status is 2. */
export class UsageError extends Error {}

/** An import has stored what it could read, and has skipped rows, as its result says. */
export class RowsSkipped extends CommandError {
  override readonly exitStatus = 3;
}

/**
 * The reader of the output, such as `… | head`, has closed it. Node ignores SIGPIPE, so the status is the one that a shell
 * would report: a result that nobody saw must not look like success.
 */
export class OutputClosed extends CommandError {
  override readonly exitStatus = 141;
}

// A failed write rejects its own promise. Without a listener, it would also end the process with a stack trace.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

/**
 * Text as a terminal may show it. Names of files, arguments and values may contain what controls a terminal or reorders its
 * text, so everything that a person reads passes this when it is printed.
 */
export const escapeForTerminal = (text: string): string => text.split('\n').map(escapeInvisible).join('\n');

/** Prints a message for the person at the terminal, on standard error. */
export const printStatus = (text: string): void => void process.stderr.write(`${escapeForTerminal(text)}\n`);

/**
 * Writes to standard output. It resolves when the text has been accepted.
 * @throws OutputClosed if its reader has closed it, CommandError if it cannot be written
 */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (!error) resolve();
      else if ((error as NodeJS.ErrnoException).code === 'EPIPE')
        reject(new OutputClosed('Standard output was closed'));
      else reject(new CommandError(`Cannot write to standard output: ${errorMessage(error)}`));
    });
  });
}

/** Why a system call failed, without naming the call, such as `no such file or directory`. */
export function errorMessage(error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException;
  return (errno !== undefined && getSystemErrorMap().get(errno)?.[1]) || message;
}
