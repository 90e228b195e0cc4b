/** Counts the times in an hour that occurs twice, of which the first one is taken. */
export class RepeatedHours {
  count = 0;
  /** The first such time in the file. */
  value = '';
  /** The offset that is taken, such as `+02:00`. */
  offset = '';
  /** A row may be read several times, so each of its columns is counted once. */
  private readonly columnsOfRow = new Set<number>();

  constructor(readonly timeZone: string | undefined) {}

  startRow(): void {
    this.columnsOfRow.clear();
  }

  add(value: string, offset: string, column = -1): void {
    if (this.columnsOfRow.has(column)) return;
    this.columnsOfRow.add(column);
    if (this.count++ > 0) return;
    this.value = value;
    this.offset = offset;
  }
}
