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
  if (!types.isNativeError(error) || !('syscall' in error)) return error;
  const reason = codeOf(error) === 'ENOSPC' ? 'the disk is full' : error.message;
  return new EmbeddedPostgresError(
    `The embedded PostgreSQL cannot use ${dataDir} (${reason}); LANYARD_DATA_DIR names its directory`,
    { cause: error },
  );
}

// Not `instanceof Error`: under jest the errors of Node's own modules come from another realm.

/** The code of a failed system call (ENOENT) or of PostgreSQL (57P03); undefined when the error has none. */
export function codeOf(error: unknown): string | undefined {
  return types.isNativeError(error) && 'code' in error ? String(error.code) : undefined;
}

export function messageOf(error: unknown): string {
  return types.isNativeError(error) ? error.message : String(error);
}
