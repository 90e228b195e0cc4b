import { MAX_ROW_LENGTH, MAX_ROW_MIB } from '../datasets/open';
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

/** A cell and the index after it; `isLast` if a line end or the end of the file follows. */
interface Cell {
  value: string;
  end: number;
  isLast: boolean;
}

/** A row, and the index and the number of lines after it. */
interface ParsedRow {
  cells: string[];
  end: number;
  lines: number;
}

/** Why a row is broken, and the index by which that is known. */
interface Problem {
  problem: string;
  end: number;
}

/** The text so far does not tell. */
const INCOMPLETE = 'incomplete';

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
    this.forgetLineEnds();
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
    while (this.position < this.text.length) {
      const { position: start, line } = this;
      const parsed = this.parseRow();
      const row = parsed === INCOMPLETE ? parsed : this.finishRow(parsed, start, line);
      if (row === INCOMPLETE) {
        this.retryLength = Math.min(2 * (this.text.length - start), MAX_ROW_LENGTH + 2);
        return;
      }
      if (row.problem !== undefined || row.cells.some((cell) => cell.trim() !== '')) yield row;
    }
  }

  /** The row at an index; a broken one has the cells of its first line. */
  private finishRow(parsed: ParsedRow | Problem, start: number, line: number): CsvRow | typeof INCOMPLETE {
    const isTooLong = parsed.end - start > MAX_ROW_LENGTH;
    if ('problem' in parsed || isTooLong)
      return this.breakRow(!isTooLong && 'problem' in parsed ? parsed.problem : UNCLOSED);
    this.position = parsed.end;
    this.line += parsed.lines;
    return { cells: parsed.cells, line, start };
  }

  /** Abandons a row and continues with the next line. */
  private breakRow(problem: string): CsvRow | typeof INCOMPLETE {
    const { line, position: start } = this;
    this.forgetLineEnds();
    const found = this.lineEnd(start);
    const end = found < 0 ? this.text.length : found;
    const isTooLong = end - start > MAX_ROW_LENGTH;
    if (!isTooLong && !this.isLineEndKnown(end)) return INCOMPLETE;
    if (++this.brokenRows > MAX_BROKEN_ROWS || isTooLong) {
      throw new ImportError([{ ...NO_LOCATION, line, expected: ROW_EXPECTED, message: problem }]);
    }
    this.position = this.afterLineEnd(end);
    this.line++;
    return { cells: this.text.slice(start, end).split(this.delimiter), line, start, problem };
  }

  private parseRow(): ParsedRow | Problem | typeof INCOMPLETE {
    const cells: string[] = [];
    const { position: start } = this;
    let position = start;
    let lines = 1;
    for (;;) {
      const cell = this.parseCell(position);
      if (cell === INCOMPLETE) {
        const isTooLong = this.text.length - start > MAX_ROW_LENGTH + 1;
        return isTooLong ? { problem: UNCLOSED, end: this.text.length } : INCOMPLETE;
      }
      if ('problem' in cell) return cell;
      cells.push(cell.value);
      lines += cell.value.includes('\n') || cell.value.includes('\r') ? countLineEnds(cell.value) : 0;
      if (cell.isLast) return { cells, end: this.afterLineEnd(cell.end), lines };
      position = cell.end + 1;
    }
  }

  private parseCell(start: number): Cell | Problem | typeof INCOMPLETE {
    const first = this.skipBlanks(start);
    const isFormula = this.delimiter !== '=' && this.text[first] === '=' && this.text[first + 1] === '"';
    const opening = isFormula ? first + 1 : first;
    if (this.text[opening] === '"') return this.parseQuotedCell(opening, isFormula);
    const lineEnd = this.lineEnd(start);
    const delimiter = this.text.indexOf(this.delimiter, start);
    if (delimiter >= 0 && (lineEnd < 0 || delimiter < lineEnd)) {
      return { value: this.text.slice(start, delimiter), end: delimiter, isLast: false };
    }
    const end = lineEnd < 0 ? this.text.length : lineEnd;
    return this.isLineEndKnown(end) ? { value: this.text.slice(start, end), end, isLast: true } : INCOMPLETE;
  }

  private parseQuotedCell(opening: number, isFormula: boolean): Cell | Problem | typeof INCOMPLETE {
    const maxLength = this.brokenRows > 0 ? MAX_LENGTH_AFTER_BROKEN_ROW : MAX_ROW_LENGTH;
    const closing = this.closingQuote(opening);
    const length = (closing < 0 ? this.text.length : closing) - opening;
    if (length > maxLength || (closing < 0 && this.isEnd)) return { problem: UNCLOSED, end: opening };
    if (closing < 0) return INCOMPLETE;
    const end = this.skipBlanks(closing + 1);
    const content = this.text.slice(opening + 1, closing).replaceAll('""', '"');
    const value = isFormula ? `="${content}"` : content;
    const next = this.text[end];
    if (next === this.delimiter) return { value, end, isLast: false };
    if (next !== undefined && next !== '\n' && next !== '\r') return { problem: STRAY, end };
    return this.isLineEndKnown(end) ? { value, end, isLast: true } : INCOMPLETE;
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

  /** Whether a line is known to end at an index. A carriage return may be the first half of a line end. */
  private isLineEndKnown(end: number): boolean {
    return this.isEnd || this.text[end] === '\n' || end + 1 < this.text.length;
  }

  /** The index of the next line end; -1 if there is none. It is cached, because most cells ask for the same one. */
  private lineEnd(start: number): number {
    this.nextLineFeed = this.nextIndex('\n', this.nextLineFeed, start);
    this.nextCarriageReturn = this.nextIndex('\r', this.nextCarriageReturn, start);
    const next = Math.min(this.nextLineFeed, this.nextCarriageReturn);
    return next === Infinity ? -1 : next;
  }

  /** The cached line ends are after the last index that was asked for, so they serve no index before it. */
  private forgetLineEnds(): void {
    this.nextLineFeed = this.nextCarriageReturn = -1;
  }

  private nextIndex(character: string, known: number, start: number): number {
    if (known >= start) return known;
    const index = this.text.indexOf(character, start);
    return index < 0 ? Infinity : index;
  }

  private afterLineEnd(index: number): number {
    return Math.min(this.text.length, this.text.startsWith('\r\n', index) ? index + 2 : index + 1);
  }
}

const countLineEnds = (cell: string): number => cell.match(/\r\n|\n|\r/g)?.length ?? 0;
