import { types } from 'node:util';
import { ExpectedError } from '../../errors/expected-error';

/** The embedded PostgreSQL cannot be used. The message is one line for the person who started the program. */
export class EmbeddedPostgresError extends ExpectedError {}

const FREE_SPACE = 'Free space on the disk, or set LANYARD_DATA_DIR to a directory on another disk.';

/** The program initdb needs the name of its user, which containers with an ID of their own (`docker run -u`, OpenShift) do not have. */
const NO_USER = /could not look up effective user ID/;
const NAME_USER =
  'Set DATABASE_URL to a PostgreSQL of your own, or give this user an entry in the list of users (/etc/passwd).';

/** Converts a failed system call to one line for a person; returns every other error as it is. */
export function explainError(error: unknown, dataDir: string): unknown {
  // Not `instanceof Error`: under Jest the errors of Node's own modules come from another realm.
  if (!types.isNativeError(error) || !('syscall' in error)) return error;
  const isFull = 'code' in error && error.code === 'ENOSPC';
  const reason = isFull
    ? `the disk is full. ${FREE_SPACE}`
    : `${error.message}. Set LANYARD_DATA_DIR to a directory that it can use.`;
  return new EmbeddedPostgresError(`The embedded PostgreSQL cannot use ${dataDir}: ${reason}`, { cause: error });
}

/** Finds the line of PostgreSQL's output that names the cause, without time and process ID. */
export function errorLineIn(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  // A full disk causes further errors, so its own line comes first.
  const isFull = lines.find((line) => /No space left on device|Disk quota exceeded|wrote only/.test(line));
  const cause = isFull ?? lines.findLast((line) => /\b(FATAL|PANIC|error|could not|not permitted)\b/.test(line));
  const text = (cause ?? lines.at(-1))?.replace(/^(.*? \[\d+\] )?((FATAL|PANIC|LOG|initdb|error):\s*)*/, '');
  if (isFull) return `${text}. ${FREE_SPACE}`;
  if (text && NO_USER.test(text)) return `${text}. ${NAME_USER}`;
  return text ?? 'no message';
}
