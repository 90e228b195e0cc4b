import type { Change, ChangesOptions } from './changes';
import { LanyardError } from './lanyard-error';
import type { ChangesV0Response } from './schema';

/** A record as a replica stores it. */
export interface ReplicaEntry {
  resource: Change['resource'];
  /** Identifies the record within its resource: its ID, or `EVENT/LEAD` for an association of a lead with an event. */
  key: string;
  record: NonNullable<Change['record']>;
  /** The number of the snapshot by which or after which the record was stored. `sweep` needs it. */
  mark: number;
}

/** Where a replica keeps its records and its cursor. All methods may be asynchronous. */
export interface ReplicaStore {
  /** The text that was last passed to `saveCursor`; undefined or null for a new replica. */
  loadCursor(): MaybePromise<string | null | undefined>;
  saveCursor(cursor: string): MaybePromise<unknown>;
  /** Stores a record in place of the one with the same resource and key, if there is one. */
  upsert(entry: ReplicaEntry): MaybePromise<unknown>;
  /** Deletes a record, if there is one. */
  delete(resource: Change['resource'], key: string): MaybePromise<unknown>;
  /** Deletes all records with a mark below this one. */
  sweep(mark: number): MaybePromise<unknown>;
  /** Runs the writes of one page in one transaction. Without it the writes run one by one, and the cursor is saved last. */
  transaction?(write: () => Promise<void>): Promise<unknown>;
}

export interface ReplicaOptions extends Omit<ChangesOptions, 'cursor' | 'since'> {
  /** Whether to continue with new changes for ever. By default the call returns when the copy is up to date. */
  follow?: boolean;
}

type MaybePromise<T> = T | Promise<T>;
type PageSource = (options: ChangesOptions) => AsyncIterable<ChangesV0Response>;

/** What a replica stores as its cursor. */
interface ReplicaState {
  /** The cursor of the last page; undefined before the first page of a snapshot. */
  cursor?: string;
  /** The number of the current snapshot. */
  mark: number;
  /** Whether the records that the current snapshot did not include were deleted. */
  isSwept: boolean;
}

/**
 * Records of earlier snapshots stay until the new snapshot is complete, so that the copy is never empty in between. Then
 * those that the snapshot did not include are swept.
 */
export async function replicate(
  pagesFrom: PageSource,
  store: ReplicaStore,
  { follow = false, ...options }: ReplicaOptions,
): Promise<void> {
  let state = JSON.parse((await store.loadCursor()) ?? '{"mark":0}') as ReplicaState;
  for (;;) {
    if (state.cursor === undefined) {
      // Saved before its first record is stored: an attempt that was killed must not share its mark with the next one.
      state = { mark: state.mark + 1, isSwept: false };
      await store.saveCursor(JSON.stringify(state));
    }
    try {
      for await (const page of pagesFrom({ ...options, cursor: state.cursor })) {
        state = await storePage(store, page, state);
        if (!follow && state.isSwept && !page.hasMore) return;
      }
    } catch (error) {
      if (!(error instanceof LanyardError) || error.status !== 410 || state.cursor === undefined) throw error;
      state = { mark: state.mark, isSwept: false };
    }
  }
}

/** @returns the state after the page, which is stored with it */
async function storePage(
  store: ReplicaStore,
  { phase, changes, cursor }: ChangesV0Response,
  { mark, isSwept }: ReplicaState,
): Promise<ReplicaState> {
  const isComplete = phase === 'changes';
  const next: ReplicaState = { cursor, mark, isSwept: isComplete };
  const write = async (): Promise<void> => {
    if (isComplete && !isSwept) await store.sweep(mark);
    for (const change of changes) {
      const { resource, record } = change;
      if (record === null) await store.delete(resource, keyOf(change));
      else await store.upsert({ resource, key: keyOf(change), record, mark });
    }
    await store.saveCursor(JSON.stringify(next));
  };
  await (store.transaction ? store.transaction(write) : write());
  return next;
}

const keyOf = (change: Change): string =>
  change.resource === 'eventLeads' ? `${change.eventId}/${change.leadId}` : String(change.id);
