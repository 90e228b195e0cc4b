import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { LEFT_OUT_COLUMNS } from '../csv/csv-columns';
import { csvRow, escapeFormula, unescapeFormula } from '../csv/csv-formulas';
import type { LeftOut } from '../datasets/left-out';
import { CommandError, errorMessage } from './terminal/terminal';

const OWNER_ONLY = 0o600;
const WRITE_SIZE = 65_536;
const MAX_FILES = 1000;

/** The CSV file that lists what a lenient import has left out. It is created when there is something to list. */
export class LeftOutFile {
  /** The name of the file; undefined if nothing was left out. */
  path: string | undefined;
  private descriptor: number | undefined;
  private pending = '';

  /**
   * @param name of the file; a number is added if there is one already
   * @param columnNames the columns of the imported file
   * @param raw whether cells that a spreadsheet would run as formulas have no apostrophe before them
   */
  constructor(
    private readonly name: string,
    private readonly columnNames: readonly string[],
    private readonly raw: boolean,
  ) {}

  add({ line, column, value, reason, cells = [] }: LeftOut): void {
    if (this.descriptor === undefined) {
      this.create();
      this.addRow([...LEFT_OUT_COLUMNS, ...this.columnNames]);
    }
    const shown = typeof value === 'string' ? value : '';
    this.addRow([line === null ? '' : String(line), column ?? '', shown, reason, ...cells]);
    if (this.pending.length > WRITE_SIZE) this.write();
  }

  /** Writes the rest. */
  close(): void {
    if (this.descriptor === undefined) return;
    this.write();
    closeSync(this.descriptor);
    this.descriptor = undefined;
  }

  /** Removes the file of an import that has failed. */
  remove(): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor);
    this.descriptor = undefined;
    if (this.path !== undefined) rmSync(this.path, { force: true });
  }

  private addRow(cells: string[]): void {
    // Cells of the file may have their apostrophes already.
    const safe = this.raw ? cells : cells.map((cell) => escapeFormula(unescapeFormula(cell)));
    this.pending += csvRow(safe, ',;\t');
  }

  /** The list of an earlier import is not overwritten, and a link of that name is not followed. */
  private create(): void {
    for (let number = 1; number <= MAX_FILES; number++) {
      const path = number === 1 ? this.name : this.name.replace(/(\.csv)?$/, `-${number}$1`);
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
}
