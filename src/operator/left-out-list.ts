import { existsSync } from 'node:fs';
import { csvRow, escapeFormula } from '../exchange/csv/csv-formulas';
import { LEFT_OUT_COLUMNS } from '../exchange/csv/delimiter-and-header';
import type { LeftOut } from '../exchange/datasets/import-plan';
import { NewFile } from './new-file';

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
  private readonly file: NewFile | undefined;

  /**
   * @param name of the file; a number is added if there is one already. Undefined if what is left out is only counted
   * @param raw whether cells that a spreadsheet would run as formulas have no apostrophe before them
   */
  constructor(
    name: string | undefined,
    private readonly raw = false,
  ) {
    // The list of an earlier import is not overwritten.
    let path = name;
    for (let number = 2; path && name && existsSync(path); number++) path = name.replace(/(\.csv)?$/, `-${number}$1`);
    this.file = path === undefined ? undefined : new NewFile(path);
  }

  /** The name of the file; undefined if there is none. */
  get path(): string | undefined {
    return this.rows + this.values > 0 ? this.file?.path : undefined;
  }

  /** @param columnNames the columns of the imported file */
  async addAll(all: AsyncIterable<LeftOut>, columnNames: readonly string[]): Promise<void> {
    // A repeated import begins anew.
    await this.remove();
    for await (const each of all) {
      if (this.rows + this.values === 0) await this.addRow([...LEFT_OUT_COLUMNS, ...columnNames]);
      this.count(each);
      const { line, column, value, reason, cells = [] } = each;
      const shown = typeof value === 'string' ? value : '';
      await this.addRow([line === null ? '' : String(line), column ?? '', shown, reason, ...cells]);
    }
    await this.file?.finish();
  }

  /** Removes the file of an import that has failed. */
  async remove(): Promise<void> {
    this.rows = 0;
    this.values = 0;
    this.columns.clear();
    await this.file?.remove();
  }

  private count({ column, value, reason }: LeftOut): void {
    if (column === null) {
      this.rows++;
      return;
    }
    this.values++;
    const known = this.columns.get(column);
    if (known) known.count++;
    else this.columns.set(column, { column, count: 1, example: String(value), reason });
  }

  private async addRow(cells: string[]): Promise<void> {
    const safe = this.raw ? cells : cells.map(escapeFormula);
    await this.file?.append(csvRow(safe, ',;\t'));
  }
}
