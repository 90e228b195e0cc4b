import type { AsyncLocalStorage } from 'node:async_hooks';

/** The storages of this suite; none where it has its modules for itself. */
const storages = (): Set<AsyncLocalStorage<unknown>> | undefined =>
  (globalThis as { [key: symbol]: Set<AsyncLocalStorage<unknown>> | undefined })[Symbol.for('lanyard.storages')];

/**
 * Runs work, and ends the storages that it has made: those of an application that is closed by then. Before Node.js 24, each
 * of them makes every promise of the process slower, and the commands of a suite make hundreds.
 */
export async function withoutStorages<T>(work: () => Promise<T>): Promise<T> {
  const before = new Set(storages());
  try {
    return await work();
  } finally {
    for (const storage of storages() ?? []) {
      if (before.has(storage)) continue;
      storage.disable();
      storages()?.delete(storage);
    }
  }
}
