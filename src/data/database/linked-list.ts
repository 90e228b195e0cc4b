/** A value in a list, which the list needs to remove it. */
export interface LinkedEntry<T> {
  readonly value: T;
  previous?: LinkedEntry<T>;
  next?: LinkedEntry<T>;
  isListed: boolean;
}

/**
 * Values in the order in which they were added, for what comes and goes with each request. A Set or a Map would keep what has
 * left it until the next full collection, and with it its request (docs/decisions/0019). This list sets the links of a
 * removed entry to undefined, so that nothing refers to what has left it.
 */
export class LinkedList<T> implements Iterable<T> {
  private head?: LinkedEntry<T>;
  private tail?: LinkedEntry<T>;
  private count = 0;

  get size(): number {
    return this.count;
  }

  get first(): LinkedEntry<T> | undefined {
    return this.head;
  }

  add(value: T): LinkedEntry<T> {
    const entry: LinkedEntry<T> = { value, previous: this.tail, next: undefined, isListed: true };
    if (this.tail) this.tail.next = entry;
    else this.head = entry;
    this.tail = entry;
    this.count++;
    return entry;
  }

  /** @returns whether the entry was still listed */
  remove(entry: LinkedEntry<T>): boolean {
    if (!entry.isListed) return false;
    const { previous, next } = entry;
    if (previous) previous.next = next;
    else this.head = next;
    if (next) next.previous = previous;
    else this.tail = previous;
    entry.previous = undefined;
    entry.next = undefined;
    entry.isListed = false;
    this.count--;
    return true;
  }

  /** The loop may remove the value that it has just been given. */
  *[Symbol.iterator](): Generator<T, void> {
    let entry = this.head;
    while (entry) {
      const { value, next } = entry;
      yield value;
      entry = next;
    }
  }
}
