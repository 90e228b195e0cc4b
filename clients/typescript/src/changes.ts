import { LanyardError } from './lanyard-error';
import type { ChangesSince, ChangesV0Response } from './schema';

/** A change of one record. Its `resource` says which fields it has. */
export type Change = ChangesV0Response['changes'][number];

export interface ChangesOptions {
  /** where an earlier loop ended; without it the first reading begins */
  cursor?: string | undefined;
  /** skips the first reading; not together with a cursor */
  since?: ChangesSince | undefined;
  /** by default all; a cursor goes on with those that it began with */
  resources?: Change['resource'][];
  /** changes a page, at most 500 */
  limit?: number;
  /** milliseconds to wait when there is nothing more for now */
  intervalMs?: number;
  /** ends the loop, its waits included, with the reason of the signal */
  signal?: AbortSignal;
  /** milliseconds for one attempt, in place of the client's */
  timeout?: number;
}

/** Changes one by one, and the cursor from which a later loop misses none. */
export class Changes implements AsyncIterable<Change> {
  constructor(
    private readonly pagesFrom: (cursor: string | undefined) => AsyncIterable<ChangesV0Response>,
    private place: string | undefined,
  ) {}

  /**
   * May be stored at any time: it stands behind a page only when the loop has come back for more after the last change of
   * that page. Changes that were taken since are told again.
   */
  get cursor(): string | undefined {
    return this.place;
  }

  /** Another loop goes on at the cursor. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Change, void, undefined> {
    for await (const { changes, cursor } of this.pagesFrom(this.place)) {
      yield* changes;
      this.place = cursor;
    }
  }
}

const GONE =
  'The cursor can no longer be used: read anew, without a cursor, and when the phase becomes "changes" remove what the new ' +
  'reading did not bring';

/** @throws the error; one of a lost place says what to do */
export function withAdvice(error: unknown): never {
  if (!(error instanceof LanyardError) || error.status !== 410) throw error;
  const { text: _, ...failure } = error;
  throw new LanyardError(GONE, { ...failure, cause: error });
}
