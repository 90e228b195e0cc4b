/** What was changed, so that it can be taken back: orders of concurrent operations are tried out on one model. */
export class Journal {
  private undos: (() => void)[] = [];

  add(undo: () => void): void {
    this.undos.push(undo);
  }

  mark(): number {
    return this.undos.length;
  }

  rollback(mark: number): void {
    while (this.undos.length > mark) this.undos.pop()?.();
  }

  /** Nothing before this can be taken back any more. */
  settle(): void {
    this.undos = [];
  }
}

/** Records by their keys, listed in an order of their own. A record is replaced, never changed in place. */
export class Table<Key, Row> {
  private readonly rows = new Map<Key, Row>();
  private readonly made: Key[] = [];
  private readonly deleted: Key[] = [];
  private sorted: Row[] | undefined;

  constructor(
    private readonly journal: Journal,
    private readonly compare: (a: Row, b: Row) => number,
  ) {}

  get(key: Key): Row | undefined {
    return this.rows.get(key);
  }

  has(key: Key): boolean {
    return this.rows.has(key);
  }

  /** Every row, in the order of the list. */
  list(): Row[] {
    return (this.sorted ??= [...this.rows.values()].sort(this.compare));
  }

  /** The keys that are there, the newest first. */
  living(): Key[] {
    return this.made.filter((key) => this.rows.has(key)).reverse();
  }

  /** The keys that were deleted, the last one first. */
  gone(): Key[] {
    return this.deleted.filter((key) => !this.rows.has(key)).reverse();
  }

  set(key: Key, row: Row): void {
    const before = this.rows.get(key);
    this.put(key, row);
    if (before !== undefined) {
      this.journal.add(() => this.put(key, before));
      return;
    }
    const known = this.made.includes(key);
    if (!known) this.made.push(key);
    this.journal.add(() => {
      this.remove(key);
      if (!known) this.made.pop();
    });
  }

  delete(key: Key): void {
    const before = this.rows.get(key);
    if (before === undefined) return;
    this.remove(key);
    this.deleted.push(key);
    this.journal.add(() => {
      this.deleted.pop();
      this.put(key, before);
    });
  }

  private put(key: Key, row: Row): void {
    this.rows.set(key, row);
    this.sorted = undefined;
  }

  private remove(key: Key): void {
    this.rows.delete(key);
    this.sorted = undefined;
  }
}
