/** A cell, or a row, that an import has left out. */
export interface LeftOut {
  line: number | null;
  /** Null for a row. */
  column: string | null;
  value: unknown;
  reason: string;
  /** The cells of a row that was skipped. */
  cells?: string[];
}

/** What was left out of one column. */
export interface LeftOutColumn {
  column: string;
  /** How many values were left out. */
  count: number;
  /** The first value that was left out. */
  example: string;
  reason: string;
}

const MAX_LISTED_ROWS = 20;

/** Counts what a lenient import leaves out. */
export class LeftOutSummary {
  rows = 0;
  values = 0;
  readonly columns = new Map<string, LeftOutColumn>();
  /** The first rows that were skipped, and why. */
  readonly skippedRows: Pick<LeftOut, 'line' | 'reason'>[] = [];

  add({ line, column, value, reason }: LeftOut): void {
    if (column === null) {
      this.rows++;
      if (this.skippedRows.length < MAX_LISTED_ROWS) this.skippedRows.push({ line, reason });
      return;
    }
    this.values++;
    const known = this.columns.get(column);
    if (known) known.count++;
    else this.columns.set(column, { column, count: 1, example: String(value), reason });
  }
}
