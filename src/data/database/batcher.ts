import { Overloaded } from '../../errors/exceptions';
import { isConnectionError, isOverload, isRejectedRow } from './errors';
import { MAX_WAITING_REQUESTS } from './limits';

interface PendingItem<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

interface Queue<Item, Result> {
  readonly items: PendingItem<Item, Result>[];
  isRunning: boolean;
  /** How many of the first items are processed one by one, because one of their batch was rejected. */
  single: number;
}

/**
 * Batches items with the same key that arrive while earlier ones are being processed. They would wait for the same lock
 * anyway, and so cost one statement and one commit. A single item is processed at once.
 */
export class Batcher<Item, Result> {
  /** The queues by key. They stay, because a Map whose members come and go keeps requests alive (data/database/linked-list.ts). */
  private readonly queues = new Map<number, Queue<Item, Result>>();

  /**
   * @param work processes items of one key, and returns their results in the same order
   * @param maxSize the maximum number of items in a batch
   */
  constructor(
    private readonly work: (items: Item[]) => Promise<Result[]>,
    private readonly maxSize: number,
    private readonly maxWaiting = MAX_WAITING_REQUESTS,
  ) {}

  /** @throws Overloaded when too many items of the key are waiting */
  add(key: number, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const queue = this.queues.get(key) ?? { items: [], isRunning: false, single: 0 };
      this.queues.set(key, queue);
      if (queue.isRunning && queue.items.length >= this.maxWaiting) {
        reject(new Overloaded('Too many requests of an organization wait'));
        return;
      }
      queue.items.push({ item, resolve, reject });
      if (!queue.isRunning) void this.drain(queue);
    });
  }

  private async drain(queue: Queue<Item, Result>): Promise<void> {
    queue.isRunning = true;
    while (queue.items.length > 0) await this.runNext(queue);
    queue.isRunning = false;
  }

  private async runNext(queue: Queue<Item, Result>): Promise<void> {
    const batch = queue.items.splice(0, queue.single > 0 ? 1 : this.maxSize);
    queue.single = Math.max(0, queue.single - 1);
    try {
      const results = await this.work(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve(results[index] as Result));
    } catch (error) {
      if (batch.length > 1 && isRejectedRow(error)) {
        queue.items.unshift(...batch);
        queue.single = batch.length;
        return;
      }
      for (const { reject } of batch) reject(error);
      if (!isConnectionError(error) && !isOverload(error)) return;
      // The waiting items would only run into the next timeout.
      queue.single = 0;
      for (const { reject } of queue.items.splice(0)) reject(new Overloaded('The database does not answer'));
    }
  }
}
