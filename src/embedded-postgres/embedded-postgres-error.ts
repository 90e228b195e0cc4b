import { types } from 'node:util';
import { DatabaseError } from 'pg';

/** The embedded PostgreSQL cannot be used. The message is one line for the person who started the program. */
export class EmbeddedPostgresError extends Error {}

/** A failed system call, or a refusal of PostgreSQL, as one line for a person; every other error as it is. */
export function explain(error: unknown, dataDir: string): unknown {
  if (error instanceof DatabaseError) {
    return new EmbeddedPostgresError(`The embedded PostgreSQL in ${dataDir} refused: ${error.message}`, {
      cause: error,
    });
  }
  // Not `instanceof Error`: under jest the errors of Node's own modules come from another realm.
  if (!types.isNativeError(error) || !('syscall' in error)) return error;
  const isFull = 'code' in error && error.code === 'ENOSPC';
  const fault = isFull ? `the disk is full; ${FREE_SPACE}` : `${error.message}; LANYARD_DATA_DIR names its directory`;
  return new EmbeddedPostgresError(`The embedded PostgreSQL cannot use ${dataDir}: ${fault}`, { cause: error });
}

const FREE_SPACE = 'free space on it, or set LANYARD_DATA_DIR to a directory on another one';

/** The line of PostgreSQL's output that names the cause, without time and process id. */
export function complaintIn(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  // After an error that comes from a full disk, others follow.
  const cause = lines.find((line) => /No space left on device|Disk quota exceeded/.test(line));
  const line = cause ?? lines.findLast((one) => /\b(FATAL|PANIC|error|could not)\b/.test(one)) ?? lines.at(-1);
  const text = line?.replace(/^.*? \[\d+\] /, '').replace(/^((FATAL|PANIC|LOG|initdb|pg_ctl|error):\s*)+/, '');
  return cause ? `${text}; the disk is full: ${FREE_SPACE}` : (text ?? 'no message');
}
