/** Records by their keys, in the order of their arrival. A record is replaced, never changed in place, so that a copy of the tables is a snapshot. */
export class Table<Key, Row> {
  private rows = new Map<Key, Row>();
  private deleted: Key[] = [];

  get(key: Key): Row | undefined {
    return this.rows.get(key);
  }

  has(key: Key): boolean {
    return this.rows.has(key);
  }

  list(): Row[] {
    return [...this.rows.values()];
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
  }

  delete(key: Key): void {
    if (this.rows.delete(key)) this.deleted.push(key);
  }

  /** @returns what restores the present rows */
  snapshot(): () => void {
    const [rows, deleted] = [new Map(this.rows), [...this.deleted]];
    return () => {
      [this.rows, this.deleted] = [new Map(rows), [...deleted]];
    };
  }
}
