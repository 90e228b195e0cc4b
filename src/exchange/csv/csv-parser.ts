import { MAX_ROW_LENGTH, MAX_ROW_MIB, requireRowLength } from '../datasets/open';
import { ImportError, NO_LOCATION } from '../datasets/import-error';
import { plainText } from './csv-formulas';

export interface CsvRow {
  cells: string[];
  /** One-based number of the line on which the row begins. */
  line: number;
  /** The number of the line after the row. */
  nextLine: number;
  /** Its text in the file, where it is kept. */
  text?: string;
  /** Why the row cannot be read. Its cells are then those of its first line, split at every delimiter. */
  problem?: string;
}

export const ROW_EXPECTED = 'rows whose quotation marks are closed';

const UNCLOSED = `Unclosed quotation mark, or a row over ${MAX_ROW_MIB} MiB, starting on this line.`;
const STRAY = 'Stray quotation mark. Quote the whole cell and double the marks inside it.';

/** Maximum length of a quoted cell after the first broken row, which keeps the search for its end fast. */
const MAX_LENGTH_AFTER_BROKEN_ROW = 65_536;
/** Reading stops after more broken rows than this. */
const MAX_BROKEN_ROWS = 100;

/** Which lines are read, and how. */
export interface ReadLines {
  /** Whether a line is no part of the table, so that not even its quotation marks count. */
  isSkipped?: (line: number) => boolean;
  /** The last line on which a row may begin. */
  lastLine?: number;
  /** Whether cells that look like a formula are kept as they are. */
  raw?: boolean;
  /** Whether rows have their texts. */
  keepsText?: boolean;
}

/** A cell and the index after it, which is that of the text's end if the cell is not complete. */
interface Cell {
  value: string;
  end: number;
  problem?: string;
}

/**
 * Parses CSV as RFC 4180 describes it, part by part. Beyond that it accepts what programs write: blanks around quotes,
 * `="0441"`, and quotation marks within cells that do not begin with one. A broken row does not end the reading: parsing
 * goes on with the line after the one on which it begins. The rows do not depend on where a part ends, because whatever
 * follows the text may decide is left for the next part, up to the limit of a row.
 */
export class CsvParser {
  private text = '';
  private position = 0;
  /** Length of the text at which an incomplete row is parsed again, so that a long one is not parsed with every part. */
  private retryLength = 0;
  private isEnd = false;
  private brokenRows = 0;

  private line = 1;

  constructor(
    private readonly delimiter: string,
    private readonly lines: ReadLines = { raw: true },
  ) {}

  push(part: string): void {
    this.text = this.text.slice(this.position) + part;
    this.position = 0;
  }

  /**
   * The rows that are complete and not blank.
   * @param isEnd whether the file ends here
   * @throws ImportError if the rest cannot be parsed
   */
  *rows(isEnd: boolean): Generator<CsvRow> {
    if (!isEnd && this.text.length < this.retryLength) return;
    this.retryLength = 0;
    this.isEnd = isEnd;
    const { isSkipped, lastLine = Infinity, raw, keepsText } = this.lines;
    while (this.position < this.text.length && this.line <= lastLine) {
      const { position: start } = this;
      const isRow = !isSkipped?.(this.line);
      const row = isRow ? this.parseRow() : this.skipLine();
      if (!row) {
        this.retryLength = Math.min(2 * (this.text.length - this.position), MAX_ROW_LENGTH + 2);
        return;
      }
      const cells = raw ? row.cells : row.cells.map(plainText);
      if (row.problem === undefined && !cells.some((cell) => cell.trim() !== '')) continue;
      yield { ...row, cells, text: keepsText ? this.text.slice(start, this.position) : undefined };
    }
  }

  /** A line without its cells; undefined if the text so far does not tell where it ends. */
  private skipLine(): CsvRow | undefined {
    const end = this.endOfText(this.position, '\n');
    requireRowLength(end - this.position, this.line);
    if (!this.isLineEndKnown(end)) return undefined;
    this.position = this.afterLineEnd(end);
    return { cells: [], line: this.line, nextLine: ++this.line };
  }

  /** The next row; undefined if the text so far does not tell where it ends. */
  private parseRow(): CsvRow | undefined {
    const { position: start, line } = this;
    const cells: string[] = [];
    let position = start;
    let lines = 1;
    for (;;) {
      const { value, end, problem } = this.parseCell(position);
      const isLast = this.text[end] !== this.delimiter;
      position = isLast ? this.afterLineEnd(end) : end + 1;
      const isTooLong = position - start > MAX_ROW_LENGTH;
      if (isTooLong || problem !== undefined) return this.breakRow(isTooLong ? UNCLOSED : problem);
      if (isLast && !this.isLineEndKnown(end)) return undefined;
      cells.push(value);
      if (value.includes('\n') || value.includes('\r')) lines += value.match(/\r\n|\n|\r/g)?.length ?? 0;
      if (!isLast) continue;
      this.position = position;
      this.line += lines;
      return { cells, line, nextLine: this.line };
    }
  }

  /** Abandons a row and continues with the next line. */
  private breakRow(problem = UNCLOSED): CsvRow | undefined {
    const { position: start, line, text } = this;
    const end = this.endOfText(start, '\n');
    const isTooLong = end - start > MAX_ROW_LENGTH;
    if (!isTooLong && !this.isLineEndKnown(end)) return undefined;
    if (++this.brokenRows > MAX_BROKEN_ROWS || isTooLong) {
      throw new ImportError([{ ...NO_LOCATION, line, expected: ROW_EXPECTED, message: problem }]);
    }
    this.position = this.afterLineEnd(end);
    this.line++;
    return { cells: text.slice(start, end).split(this.delimiter), line, nextLine: this.line, problem };
  }

  private parseCell(start: number): Cell {
    const first = this.skipBlanks(start);
    const isFormula = this.delimiter !== '=' && this.text.startsWith('="', first);
    const opening = isFormula ? first + 1 : first;
    if (this.text[opening] === '"') return this.parseQuotedCell(opening, isFormula);
    const end = this.endOfText(start, this.delimiter);
    return { value: this.text.slice(start, end), end };
  }

  private parseQuotedCell(opening: number, isFormula: boolean): Cell {
    const { text } = this;
    const closing = this.closingQuote(opening);
    const length = (closing < 0 ? text.length : closing) - opening;
    const isTooLong = this.brokenRows > 0 && length > MAX_LENGTH_AFTER_BROKEN_ROW;
    if (isTooLong || (closing < 0 && this.isEnd)) return { value: '', end: opening, problem: UNCLOSED };
    if (closing < 0) return { value: '', end: text.length };
    const end = this.skipBlanks(closing + 1);
    const content = text.slice(opening + 1, closing).replaceAll('""', '"');
    const isEnded = end === text.length || [this.delimiter, '\n', '\r'].includes(text[end] ?? '');
    return { value: isFormula ? `="${content}"` : content, end, problem: isEnded ? undefined : STRAY };
  }

  /** The index of the quotation mark that closes a cell; -1 if none does. */
  private closingQuote(opening: number): number {
    let index = this.text.indexOf('"', opening + 1);
    while (index >= 0 && this.text[index + 1] === '"') index = this.text.indexOf('"', index + 2);
    return index;
  }

  private skipBlanks(start: number): number {
    let index = start;
    while ((this.text[index] === ' ' || this.text[index] === '\t') && this.text[index] !== this.delimiter) index++;
    return index;
  }

  /** The index of the next line end or delimiter, or of the end of the text. */
  private endOfText(start: number, delimiter: string): number {
    const { text } = this;
    let index = start;
    while (index < text.length && text[index] !== delimiter && text[index] !== '\n' && text[index] !== '\r') index++;
    return index;
  }

  /** Whether a line is known to end at an index. A carriage return may be the first half of a line end. */
  private isLineEndKnown(end: number): boolean {
    return this.isEnd || this.text[end] === '\n' || end + 1 < this.text.length;
  }

  private afterLineEnd(index: number): number {
    return Math.min(this.text.length, this.text.startsWith('\r\n', index) ? index + 2 : index + 1);
  }
}
