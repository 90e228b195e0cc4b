import { MOST_WAITING, Overloaded, TOO_MANY } from './turns';

/**
 * Milliseconds: work that fails after so long counts as a timeout, and not as an error of its statement. The shortest
 * timeout is the second for which a connection is waited for; half of it, because a timer counts from the beginning of
 * its turn of the event loop, and a busy process measures less.
 */
const OUT_OF_TIME = 500;

/**
 * Batching: work on one key that arrives while earlier work on it is under way is done together, in one go, after it.
 * What would wait for the same lock in any case so costs one statement and one commit instead of many; alone, nothing
 * waits.
 */
export class Together<Item, Result> {
  private readonly waiting = new Map<number, Waiting<Item, Result>[]>();

  /**
   * @param work does all items of a key and gives their results in the same order
   * @param most items at a time
   * @param isItemsFault whether an error is the fault of one item, so that the others deserve another try without it
   * @param mostWaiting who comes when so many of a key wait is refused
   * @param clock milliseconds that never go back
   */
  constructor(
    private readonly work: (key: number, items: Item[]) => Promise<Result[]>,
    private readonly most: number,
    private readonly isItemsFault: (error: unknown) => boolean,
    private readonly mostWaiting = MOST_WAITING,
    private readonly clock: () => number = () => performance.now(),
  ) {}

  add(key: number, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const waiting = this.waiting.get(key);
      if (!waiting) void this.workOff(key, [{ item, resolve, reject }]);
      else if (waiting.length >= this.mostWaiting) reject(new Overloaded(TOO_MANY));
      else waiting.push({ item, resolve, reject });
    });
  }

  private async workOff(key: number, waiting: Waiting<Item, Result>[]): Promise<void> {
    this.waiting.set(key, waiting);
    while (waiting.length > 0) await this.settle(waiting.splice(0, this.most), key, waiting);
    this.waiting.delete(key);
  }

  /** @param waiting who came meanwhile */
  private async settle(together: Waiting<Item, Result>[], key: number, waiting: Waiting<Item, Result>[]) {
    const begun = this.clock();
    try {
      const results = await this.work(
        key,
        together.map(({ item }) => item),
      );
      together.forEach(({ resolve }, index) => resolve(results[index] as Result));
    } catch (error) {
      const isItemsFault = this.isItemsFault(error);
      if (together.length > 1 && isItemsFault) {
        for (const one of together) await this.settle([one], key, waiting);
      } else {
        // What came meanwhile has waited as long for a database that is away: not to wait for it once more.
        const behind = isItemsFault || this.clock() - begun < OUT_OF_TIME ? [] : waiting.splice(0);
        for (const { reject } of [...together, ...behind]) reject(error);
      }
    }
  }
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}
