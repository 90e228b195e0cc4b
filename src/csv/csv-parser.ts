import { MAX_ROW_LENGTH, MAX_ROW_MIB } from '../datasets/file-text';
import { ImportError, NO_LOCATION } from '../datasets/import-error';

export interface CsvRow {
  cells: string[];
  /** One-based number of the line on which the row begins. */
  line: number;
  /** Why the row cannot be read. Its cells are then those of its first line, split at every delimiter. */
  problem?: string;
  /** Index of the row's first character in the text that was pushed, used only for the start of a file. */
  start: number;
}

export const ROW_EXPECTED = 'rows whose quotation marks are closed';

const UNCLOSED = `Unclosed quotation mark, or a row over ${MAX_ROW_MIB} MiB, starting on this line.`;
const STRAY = 'Stray quotation mark. Quote the whole cell and double the marks inside it.';

/** Maximum length of a quoted cell after the first broken row, which keeps the search for its end fast. */
const MAX_LENGTH_AFTER_BROKEN_ROW = 65_536;
/** Reading stops after more broken rows than this. */
const MAX_BROKEN_ROWS = 100;

/** The result of parsing a row. */
type Parsed = { cells: string[]; end: number; lines: number } | { problem: string } | 'incomplete';

/** A cell and the index after it; `isLast` if a line end or the end of the file follows. */
type ParsedCell = { value: string; end: number; isLast: boolean } | { problem: string } | 'incomplete';

/**
 * Parses CSV as RFC 4180 describes it, part by part. Beyond that it accepts what programs write: blanks around quotes,
 * `="0441"`, and quotation marks within cells that do not begin with one. A broken row does not end the reading: parsing
 * goes on with the line after the one on which it begins.
 */
export class CsvParser {
  private text = '';
  private position = 0;
  /** Length of the text at which an incomplete row is parsed again, so that a long one is not parsed with every part. */
  private retryLength = 0;
  private brokenRows = 0;
  private nextLineFeed = -1;
  private nextCarriageReturn = -1;

  /** @param line number of the first line */
  constructor(
    private readonly delimiter: string,
    private line: number,
  ) {}

  /** Index in the text that was pushed last, and the line number there. */
  get state(): { end: number; line: number } {
    return { end: this.position, line: this.line };
  }

  push(part: string): void {
    this.text = this.text.slice(this.position) + part;
    this.position = 0;
    this.nextLineFeed = this.nextCarriageReturn = -1;
  }

  /**
   * The rows that are complete and not blank.
   * @param isEnd whether the file ends here
   * @throws ImportError if the rest cannot be parsed
   */
  *rows(isEnd: boolean): Generator<CsvRow> {
    if (!isEnd && this.text.length < this.retryLength) return;
    this.retryLength = 0;
    while (this.position < this.text.length) {
      const start = this.position;
      const { line } = this;
      const parsed = this.parseRow(isEnd);
      if (parsed === 'incomplete') {
        if (this.text.length - start <= this.maxRowLength) {
          this.retryLength = Math.min(2 * (this.text.length - start), this.maxRowLength + 1);
          return;
        }
        yield this.breakRow(UNCLOSED);
      } else if ('problem' in parsed) {
        yield this.breakRow(parsed.problem);
      } else {
        this.position = parsed.end;
        this.line += parsed.lines;
        if (parsed.cells.some((cell) => cell.trim() !== '')) yield { cells: parsed.cells, line, start };
      }
    }
  }

  private get maxRowLength(): number {
    return this.brokenRows > 0 ? MAX_LENGTH_AFTER_BROKEN_ROW : MAX_ROW_LENGTH;
  }

  /** Abandons a row and continues with the next line. */
  private breakRow(problem: string): CsvRow {
    const { line, position: start } = this;
    const end = this.lineEnd(start);
    const isTooLong = end < 0 && this.text.length - start > this.maxRowLength;
    if (++this.brokenRows > MAX_BROKEN_ROWS || isTooLong) {
      throw new ImportError([{ ...NO_LOCATION, line, expected: ROW_EXPECTED, message: problem }]);
    }
    const text = this.text.slice(start, end < 0 ? undefined : end);
    this.position = end < 0 ? this.text.length : this.afterLineEnd(end);
    this.line++;
    return { cells: text.split(this.delimiter), line, start, problem };
  }

  private parseRow(isEnd: boolean): Parsed {
    const cells: string[] = [];
    let { position } = this;
    let lines = 1;
    for (;;) {
      const cell = this.parseCell(position, isEnd);
      if (cell === 'incomplete' || 'problem' in cell) return cell;
      cells.push(cell.value);
      lines += cell.value.includes('\n') || cell.value.includes('\r') ? countLineEnds(cell.value) : 0;
      if (!cell.isLast) {
        position = cell.end + 1;
        continue;
      }
      // A carriage return at the end of a part may be the first half of a line end.
      if (!isEnd && cell.end + 1 >= this.text.length && this.text[cell.end] !== '\n') return 'incomplete';
      return { cells, end: this.afterLineEnd(cell.end), lines };
    }
  }

  private parseCell(start: number, isEnd: boolean): ParsedCell {
    const first = this.skipBlanks(start);
    const isFormula = this.text[first] === '=' && this.text[first + 1] === '"';
    const opening = isFormula ? first + 1 : first;
    if (this.text[opening] === '"') return this.parseQuotedCell(opening, isFormula, isEnd);
    const lineEnd = this.lineEnd(start);
    const delimiter = this.text.indexOf(this.delimiter, start);
    const isLast = delimiter < 0 || (lineEnd >= 0 && lineEnd < delimiter);
    if (isLast && lineEnd < 0 && !isEnd) return 'incomplete';
    let end = delimiter;
    if (isLast) end = lineEnd < 0 ? this.text.length : lineEnd;
    return { value: this.text.slice(start, end), end, isLast };
  }

  private parseQuotedCell(opening: number, isFormula: boolean, isEnd: boolean): ParsedCell {
    const closing = this.closingQuote(opening);
    if (closing < 0) return isEnd ? { problem: UNCLOSED } : 'incomplete';
    const end = this.skipBlanks(closing + 1);
    if (end >= this.text.length && !isEnd) return 'incomplete';
    const content = this.text.slice(opening + 1, closing).replaceAll('""', '"');
    const value = isFormula ? `="${content}"` : content;
    const next = this.text[end];
    if (next === this.delimiter) return { value, end, isLast: false };
    if (next === undefined || next === '\n' || next === '\r') return { value, end, isLast: true };
    return { problem: STRAY };
  }

  /** The index of the quotation mark that closes a cell; -1 if none does. */
  private closingQuote(opening: number): number {
    let index = this.text.indexOf('"', opening + 1);
    while (index >= 0 && this.text[index + 1] === '"') index = this.text.indexOf('"', index + 2);
    return index - opening > this.maxRowLength ? -1 : index;
  }

  private skipBlanks(start: number): number {
    let index = start;
    while (this.text[index] !== this.delimiter && (this.text[index] === ' ' || this.text[index] === '\t')) index++;
    return index;
  }

  /** The index of the next line end; -1 if there is none. It is cached, because most cells ask for the same one. */
  private lineEnd(start: number): number {
    this.nextLineFeed = this.nextIndex('\n', this.nextLineFeed, start);
    this.nextCarriageReturn = this.nextIndex('\r', this.nextCarriageReturn, start);
    const next = Math.min(this.nextLineFeed, this.nextCarriageReturn);
    return next === Infinity ? -1 : next;
  }

  private nextIndex(character: string, known: number, start: number): number {
    if (known >= start) return known;
    const index = this.text.indexOf(character, start);
    return index < 0 ? Infinity : index;
  }

  private afterLineEnd(index: number): number {
    return this.text[index] === '\r' && this.text[index + 1] === '\n' ? index + 2 : index + 1;
  }
}

const countLineEnds = (cell: string): number => cell.match(/\r\n|\n|\r/g)?.length ?? 0;
