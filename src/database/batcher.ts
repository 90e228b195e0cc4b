import { Overloaded } from '../errors/exceptions';
import { isConnectionError, isOverload, isRejectedRow } from './errors';
import { MAX_WAITING_REQUESTS } from './limits';

interface PendingItem<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Batches items of one key that arrive while earlier ones are under way: what would wait for the same lock in any case
 * costs one statement and one commit. A single item waits for nothing.
 */
export class Batcher<Item, Result> {
  private readonly queues = new Map<number, PendingItem<Item, Result>[]>();

  /**
   * @param work does all items of a key, and returns their results in the same order
   * @param maxSize items at a time
   */
  constructor(
    private readonly work: (key: number, items: Item[]) => Promise<Result[]>,
    private readonly maxSize: number,
    private readonly maxWaiting = MAX_WAITING_REQUESTS,
  ) {}

  /** @throws Overloaded when too many items of the key wait */
  add(key: number, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const queue = this.queues.get(key);
      if (!queue) void this.drain(key, [{ item, resolve, reject }]);
      else if (queue.length < this.maxWaiting) queue.push({ item, resolve, reject });
      else reject(new Overloaded('Too many requests of an organization wait'));
    });
  }

  private async drain(key: number, queue: PendingItem<Item, Result>[]): Promise<void> {
    this.queues.set(key, queue);
    while (queue.length > 0) await this.run(key, queue.splice(0, this.maxSize), [queue]);
    this.queues.delete(key);
  }

  /** @param later what runs after the batch */
  private async run(
    key: number,
    batch: PendingItem<Item, Result>[],
    later: PendingItem<Item, Result>[][],
  ): Promise<void> {
    try {
      const results = await this.work(
        key,
        batch.map(({ item }) => item),
      );
      batch.forEach(({ resolve }, index) => resolve(results[index] as Result));
    } catch (error) {
      if (batch.length > 1 && isRejectedRow(error)) {
        // One item is at fault: each is tried alone.
        while (batch.length > 0) await this.run(key, batch.splice(0, 1), [batch, ...later]);
        return;
      }
      for (const { reject } of batch) reject(error);
      if (!isConnectionError(error) && !isOverload(error)) return;
      // Those that wait would only wait for the next timeout.
      for (const { reject } of later.flatMap((waiting) => waiting.splice(0))) {
        reject(new Overloaded('The database does not answer'));
      }
    }
  }
}
