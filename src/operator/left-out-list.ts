import type { CsvPlan } from '../exchange/csv/plan';
import { csvRow, escapeFormula } from '../exchange/csv/csv-formulas';
import type { OpenFile } from '../exchange/csv/open';
import type { LeftOut } from '../exchange/datasets/import-plan';
import { byteOrderMark, decodeText, textEncoder } from '../exchange/datasets/open';
import { NewFile } from './new-file';

const LINE_END = /\r\n|\n|\r/;

const COLUMNS = ['line', 'column', 'value', 'reason'];

/**
 * What a lenient import leaves out. One file lists it, and another one has the rows that were skipped, each on its line, so
 * that they can be corrected there and imported with the same mapping. Each is created when there is something to write.
 */
export class LeftOutList {
  rows = 0;
  values = 0;
  private skipped: NewFile | undefined;
  private readonly errors: NewFile;

  /**
   * @param isKept whether to write the files, or only to count
   * @throws CommandError if there is one of the files already
   */
  constructor(
    errorsFile: string,
    private readonly skippedFile: string,
    private readonly open: OpenFile,
    private readonly isKept: boolean,
  ) {
    this.errors = new NewFile(errorsFile);
    if (isKept) for (const file of [this.errors, new NewFile(skippedFile)]) file.requireNew();
  }

  get errorsFile(): string | null {
    return this.isKept && this.rows + this.values > 0 ? this.errors.path : null;
  }

  get rowsFile(): string | null {
    return this.isKept && this.rows > 0 ? this.skippedFile : null;
  }

  async addAll(all: AsyncIterable<LeftOut>, { mapping, file }: CsvPlan): Promise<void> {
    // A repeated import begins anew.
    await this.remove();
    let { nextLine } = file.header;
    for await (const { line, column, value, reason, rowText } of all) {
      if (column === null) this.rows++;
      else this.values++;
      if (!this.isKept) continue;
      if (this.rows + this.values === 1) await this.addRow(COLUMNS);
      await this.addRow([String(line ?? ''), column ?? '', typeof value === 'string' ? value : '', reason]);
      if (column !== null || rowText === undefined || line === null) continue;
      const text = LINE_END.test(rowText.slice(-2)) ? rowText : `${rowText}\n`;
      this.skipped ??= await this.beginSkipped(nextLine, mapping.encoding);
      await this.skipped.append('\n'.repeat(line - nextLine) + text);
      nextLine = line + text.split(LINE_END).length - 1;
    }
    await this.errors.finish();
    await this.skipped?.finish();
  }

  /** Removes the files of an import that has failed. */
  async remove(): Promise<void> {
    this.rows = 0;
    this.values = 0;
    await this.errors.remove();
    await this.skipped?.remove();
    this.skipped = undefined;
  }

  /** Begins the file of skipped rows with the lines up to the header, as they are. */
  private async beginSkipped(nextLine: number, encoding?: string): Promise<NewFile> {
    const { mark, encoding: marked } = await byteOrderMark(this.open());
    const skipped = new NewFile(this.skippedFile, textEncoder(encoding ?? marked));
    await skipped.append(mark);
    let missing = nextLine - 1;
    for await (const text of decodeText(this.open(), encoding, 'escape')) {
      const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/, missing);
      await skipped.append(lines.join(''));
      missing -= lines.filter((line) => LINE_END.test(line)).length;
      if (missing <= 0) break;
    }
    return skipped;
  }

  private addRow(cells: string[]): Promise<void> {
    return this.errors.append(csvRow(cells.map(escapeFormula), ',;\t'));
  }
}
