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

/** Counts what a lenient import leaves out, and passes it on. */
export class LeftOutCounter {
  rows = 0;
  values = 0;
  readonly columns = new Map<string, LeftOutColumn>();
  /** The first rows that were skipped, and why. */
  readonly skippedRows: { line: number | null; reason: string }[] = [];

  /** @param write receives everything that is left out, in the order in which it is found */
  constructor(private readonly write: (leftOut: LeftOut) => void) {}

  addValue(line: number, column: string, value: string, reason: string): void {
    this.values++;
    const known = this.columns.get(column);
    if (known) known.count++;
    else this.columns.set(column, { column, count: 1, example: value, reason });
    this.write({ line, column, value, reason });
  }

  addRow(line: number | null, cells: string[], reason: string): void {
    this.rows++;
    if (this.skippedRows.length < MAX_LISTED_ROWS) this.skippedRows.push({ line, reason });
    this.write({ line, column: null, value: null, reason, cells });
  }
}

const MAX_LISTED_ROWS = 20;
