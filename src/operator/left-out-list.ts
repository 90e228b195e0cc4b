import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { LEFT_OUT_COLUMNS } from '../csv/csv-columns';
import { csvRow, escapeFormula, unescapeFormula } from '../csv/csv-formulas';
import type { LeftOut } from '../datasets/import-plan';
import { CommandError, errorMessage } from './terminal/terminal';

const OWNER_ONLY = 0o600;
const WRITE_SIZE = 65_536;
const MAX_FILES = 1000;
const MAX_LISTED_ROWS = 20;

/** What was left out of one column. */
interface LeftOutColumn {
  column: string;
  /** How many values were left out. */
  count: number;
  /** The first value that was left out. */
  example: string;
  reason: string;
}

/** Counts what a lenient import leaves out, and lists it in a CSV file, which is created when there is something to list. */
export class LeftOutList {
  rows = 0;
  values = 0;
  readonly columns = new Map<string, LeftOutColumn>();
  /** The first rows that were skipped, and why. */
  readonly skippedRows: Pick<LeftOut, 'line' | 'reason'>[] = [];
  /** The name of the file; undefined if there is none. */
  path: string | undefined;
  private descriptor: number | undefined;
  private pending = '';

  /**
   * @param name of the file; a number is added if there is one already. Undefined if what is left out is only counted
   * @param columnNames the columns of the imported file
   * @param raw whether cells that a spreadsheet would run as formulas have no apostrophe before them
   */
  constructor(
    private readonly name: string | undefined,
    private readonly columnNames: readonly string[],
    private readonly raw: boolean,
  ) {}

  async addAll(all: AsyncIterable<LeftOut>): Promise<void> {
    for await (const each of all) {
      this.count(each);
      if (this.name !== undefined) this.list(this.name, each);
    }
    this.close();
  }

  /** Removes the file of an import that has failed. */
  remove(): void {
    this.close();
    if (this.path !== undefined) rmSync(this.path, { force: true });
  }

  private count({ line, column, value, reason }: LeftOut): void {
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

  private list(name: string, { line, column, value, reason, cells = [] }: LeftOut): void {
    if (this.descriptor === undefined) {
      this.create(name);
      this.addRow([...LEFT_OUT_COLUMNS, ...this.columnNames]);
    }
    const shown = typeof value === 'string' ? value : '';
    this.addRow([line === null ? '' : String(line), column ?? '', shown, reason, ...cells]);
    if (this.pending.length > WRITE_SIZE) this.write();
  }

  private addRow(cells: string[]): void {
    // Cells of the file may have their apostrophes already.
    const safe = this.raw ? cells : cells.map((cell) => escapeFormula(unescapeFormula(cell)));
    this.pending += csvRow(safe, ',;\t');
  }

  /** The list of an earlier import is not overwritten, and a link of that name is not followed. */
  private create(name: string): void {
    for (let number = 1; number <= MAX_FILES; number++) {
      const path = number === 1 ? name : name.replace(/(\.csv)?$/, `-${number}$1`);
      try {
        this.descriptor = openSync(path, 'wx', OWNER_ONLY);
        this.path = path;
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST' && number < MAX_FILES) continue;
        throw new CommandError(`cannot write ${path}: ${errorMessage(error)}`);
      }
    }
  }

  private write(): void {
    if (this.descriptor !== undefined) writeSync(this.descriptor, this.pending);
    this.pending = '';
  }

  private close(): void {
    if (this.descriptor === undefined) return;
    this.write();
    closeSync(this.descriptor);
    this.descriptor = undefined;
  }
}
