/** Records by their keys. A record is replaced, never changed in place, so that a copy of the tables is a snapshot. */
export class Table<Key, Row> {
  private rows = new Map<Key, Row>();
  private deleted: Key[] = [];
  private sorted: Row[] | undefined;

  /** @param compare the order of the list; without it, that of insertion */
  constructor(private readonly compare?: (a: Row, b: Row) => number) {}

  get(key: Key): Row | undefined {
    return this.rows.get(key);
  }

  has(key: Key): boolean {
    return this.rows.has(key);
  }

  /** Every row, in the order of the list. */
  list(): Row[] {
    const rows = [...this.rows.values()];
    return (this.sorted ??= this.compare ? rows.sort(this.compare) : rows);
  }

  /** The keys that are there, the newest first. */
  living(): Key[] {
    return [...this.rows.keys()].reverse();
  }

  /** The keys that were deleted, the last one first. */
  gone(): Key[] {
    return this.deleted.toReversed();
  }

  set(key: Key, row: Row): void {
    this.rows.set(key, row);
    this.sorted = undefined;
  }

  delete(key: Key): void {
    if (this.rows.delete(key)) this.deleted.push(key);
    this.sorted = undefined;
  }

  /** @returns what restores the present rows */
  snapshot(): () => void {
    const [rows, deleted] = [new Map(this.rows), [...this.deleted]];
    return () => {
      [this.rows, this.deleted, this.sorted] = [new Map(rows), [...deleted], undefined];
    };
  }
}
