import type { Writable } from 'node:stream';
import { getSystemErrorMap, styleText } from 'node:util';

/** Why a command is not carried out, in one line: exit status 1. */
export class Refusal extends Error {}

/** Wrong usage that can be seen without the database, in one line: exit status 2. */
export class UsageError extends Error {}

/** Whoever read the output has gone (`… | head`), and so is the point of the command. */
export class OutputClosed extends Error {}

// A write that fails rejects its own promise; without a listener it would also end the process with a stack.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

/** A message to the person at the terminal, on standard error. */
export const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Writes to standard output; resolves when it was taken. */
export const print = (text: string): Promise<void> => write(process.stdout, text, 'standard output');

/**
 * Writes to a stream; resolves when it was taken.
 * @throws OutputClosed when nobody reads it any more, Refusal when it cannot be written
 */
export function write(stream: Writable, text: string, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (!error) resolve();
      else if (codeOf(error) === 'EPIPE') reject(new OutputClosed(`nobody reads ${name}`));
      else reject(new Refusal(`cannot write ${name}: ${reasonOf(error)}`));
    });
  });
}

/**
 * Text with colours where it goes to a terminal that shows them. Node decides; it hears NO_COLOR, FORCE_COLOR and
 * NODE_DISABLE_COLORS.
 */
export const styled = (
  format: Parameters<typeof styleText>[0],
  text: string,
  stream: NodeJS.WriteStream = process.stdout,
): string => styleText(format, text, { stream });

/**
 * The result of a command: one JSON value with `--json`, else text for a person.
 * @param done what the command has done, also when nobody sees its result: who is told of a failure does it once more
 * @throws what keeps the result from being shown, which says what was done
 */
export async function answer(
  json: boolean | undefined,
  result: unknown,
  text: () => string,
  done?: string,
): Promise<void> {
  await print(`${json ? JSON.stringify(result) : text()}\n`).catch((error: Error) => {
    if (done) error.message += `; ${done}`;
    throw error;
  });
}

const codeOf = (error: Error): unknown => (error as NodeJS.ErrnoException).code;

/** Why a system call failed, without the call: `no such file or directory`. */
export function reasonOf(error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException;
  return (errno !== undefined && getSystemErrorMap().get(errno)?.[1]) || message;
}
