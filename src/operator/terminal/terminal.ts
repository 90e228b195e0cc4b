import { getSystemErrorMap, styleText } from 'node:util';

/** The one-line reason for refusing a command: exit status 1. */
export class CommandError extends Error {}

/** Wrong usage, detected without the database, in one line: exit status 2. */
export class UsageError extends Error {}

/** A message about wrong usage, in one line with what to do; commander puts its suggestion into a line of its own. */
export function formatUsageError(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return `${lines.filter(Boolean).join(' ')} (add --help for usage)`;
}

/** The reader of the output has closed it (`… | head`). */
export class OutputClosed extends Error {}

// A failed write rejects its own promise; without a listener it would also end the process with a stack.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

/** A message to the person at the terminal, on standard error. */
export const printStatus = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * Writes on standard output; resolves when the text has been taken.
 * @throws OutputClosed when its reader has closed it, Refusal when it cannot be written
 */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (!error) resolve();
      else if ((error as NodeJS.ErrnoException).code === 'EPIPE')
        reject(new OutputClosed('standard output was closed'));
      else reject(new CommandError(`cannot write standard output: ${errorMessage(error)}`));
    });
  });
}

/** Text with colours where the stream is a terminal that shows them; Node respects NO_COLOR and FORCE_COLOR. */
export const applyStyle = (
  format: Parameters<typeof styleText>[0],
  text: string,
  stream: NodeJS.WriteStream = process.stdout,
): string => styleText(format, text, { stream });

/**
 * The result of a command: one JSON value with `--json`, else text for a person.
 * @param doneText what has been done, added to the error when the result cannot be shown: repeating the command would do it
 *   twice
 */
export async function printResult(
  json: boolean | undefined,
  result: unknown,
  text: () => string,
  doneText?: string,
): Promise<void> {
  await print(`${json ? JSON.stringify(result) : text()}\n`).catch((error: Error) => {
    if (doneText) error.message += `; ${doneText}`;
    throw error;
  });
}

/** Why a system call failed, without the call: `no such file or directory`. */
export function errorMessage(error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException;
  return (errno !== undefined && getSystemErrorMap().get(errno)?.[1]) || message;
}
