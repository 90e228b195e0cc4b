import { isUuid } from '../api/text';
import { decodeText, type EncodingProblem } from '../datasets/open';
import { importError } from '../datasets/import-error';
import { type CsvHeader, openCsvText } from './csv-header';
import { CsvParser, type CsvRow } from './csv-parser';
import { trimInvisible } from './csv-values';
import { rowIssue } from './row-issues';
import { type DateFormat, isDateOnly, isTimeOnly, numericDate } from './date-times';

/** Opens a file again. It is read twice, because the meaning of a column may depend on its last value. */
export type OpenFile = () => AsyncIterable<Buffer>;

export interface ReadingOptions {
  encoding?: string;
  delimiter?: string;
  skipLines?: number;
  /** Ranges of lines, first and last, on which rows are skipped. */
  skipRows: [first: number, last: number][];
  isKnownName: (name: string) => boolean;
  /** The line from which on rows belong to another table. */
  endLine?: number;
}

/** How many different values of a column are counted. */
const MAX_COUNTED = 50;

const CONTACT = /@|https?:|^www\.|^[+(0][\d\s()./-]{6,}$|\b(?:GmbH|AG|Ltd|LLC|Inc|Corp|BV|SRL)\.?$/;

/** What the values of a column have in common. */
export class ColumnFacts {
  /** How many cells have a value. */
  values = 0;
  uuids = 0;
  addresses = 0;
  /** How many are a time without a date, or a date without a time. */
  timesOnly = 0;
  datesOnly = 0;
  /** The first value that is not a UUID. */
  otherId?: { value: string; line: number };
  /** The patterns that all values match. */
  patterns: Set<RegExp>;
  /** How often the first different values occur. */
  private readonly counts = new Map<string, number>();
  private dates = new DateOrder();

  constructor(patterns: RegExp[]) {
    this.patterns = new Set(patterns);
  }

  add(cell: string, line: number): void {
    const value = trimInvisible(cell);
    if (value === '') return;
    this.values++;
    const count = this.counts.get(value);
    if (count !== undefined || this.counts.size < MAX_COUNTED) this.counts.set(value, (count ?? 0) + 1);
    if (isUuid(value)) this.uuids++;
    else this.otherId ??= { value, line };
    if (value.includes('@')) this.addresses++;
    if (isTimeOnly(value)) this.timesOnly++;
    else if (isDateOnly(value)) this.datesOnly++;
    for (const pattern of this.patterns) if (!pattern.test(value)) this.patterns.delete(pattern);
    this.dates.add(value);
  }

  /** Whether most values are among some words in lower case, a period after them aside. */
  areMostly(words: string[]): boolean {
    const isWord = ([value]: [string, number]): boolean => words.includes(value.toLowerCase().replace(/\.$/, ''));
    const count = [...this.counts].filter(isWord).reduce((sum, [, each]) => sum + each, 0);
    return count * 2 > this.values;
  }

  /** Whether some values look like an address, a number to call, a link or a company. */
  get hasContact(): boolean {
    return [...this.counts.keys()].some((value) => CONTACT.test(value));
  }

  /** The order of day and month, if the values prove it. */
  get dateFormat(): DateFormat | undefined {
    return this.dates.format;
  }

  /** The order of day and month by which the dates are closest together; undefined if neither order fits all of them. */
  get likelyDateFormat(): DateFormat | undefined {
    return this.dates.likelyFormat;
  }
}

/** What the numeric dates of a column tell about their order of day and month. */
class DateOrder {
  private canBe: Record<DateFormat, boolean> = { DMY: true, MDY: true };
  private isDecided: Record<DateFormat, boolean> = { DMY: false, MDY: false };
  private first: Partial<Record<DateFormat, number>> = {};
  private last: Partial<Record<DateFormat, number>> = {};
  private separator = '';

  add(value: string): void {
    const date = numericDate(value);
    if (!date || (date.asDayFirst === undefined && date.asMonthFirst === undefined)) return;
    this.separator ||= date.separator;
    this.note('DMY', date.asDayFirst);
    this.note('MDY', date.asMonthFirst);
    if (date.asDayFirst === undefined) this.isDecided.MDY = true;
    if (date.asMonthFirst === undefined) this.isDecided.DMY = true;
  }

  get format(): DateFormat | undefined {
    if (this.isDecided.DMY && this.canBe.DMY) return 'DMY';
    return this.isDecided.MDY && this.canBe.MDY ? 'MDY' : undefined;
  }

  get likelyFormat(): DateFormat | undefined {
    if (!this.canBe.DMY && !this.canBe.MDY) return undefined;
    const [dayFirst, monthFirst] = [this.span('DMY'), this.span('MDY')];
    if (this.separator === '.' || dayFirst < monthFirst) return 'DMY';
    return monthFirst < dayFirst || this.separator === '/' ? 'MDY' : 'DMY';
  }

  private note(format: DateFormat, time: number | undefined): void {
    if (time === undefined) {
      this.canBe[format] = false;
      return;
    }
    this.first[format] = Math.min(this.first[format] ?? time, time);
    this.last[format] = Math.max(this.last[format] ?? time, time);
  }

  private span(format: DateFormat): number {
    return this.canBe[format] ? (this.last[format] ?? 0) - (this.first[format] ?? 0) : Infinity;
  }
}

/** What is known about a file after all of it has been read. */
export interface Survey {
  header: CsvHeader;
  encodingProblem?: EncodingProblem;
  /** The facts by the index of the column. Columns without values have none. */
  facts: Map<number, ColumnFacts>;
  /** The line on which another table begins, which is left out with all that follows. */
  endLine?: number;
}

/** @throws ImportError if the file cannot be read */
export async function surveyFile(open: OpenFile, options: ReadingOptions, patterns: RegExp[]): Promise<Survey> {
  const facts = new Map<number, ColumnFacts>();
  let encodingProblem: EncodingProblem | undefined;
  let header: CsvHeader | undefined;
  let endLine: number | undefined;
  let rowBefore: CsvRow | undefined;
  const onProblem = (problem: EncodingProblem) => (encodingProblem = problem);
  reading: for await (const part of readRows(open, options, onProblem)) {
    header = part.header;
    for (const row of part.rows) {
      if (beginsOtherTable(row, header, options)) {
        // A line such as `Panelist Details` is the title of the other table.
        endLine = rowBefore && textsOf(rowBefore).length === 1 ? rowBefore.line : row.line;
        break reading;
      }
      if (textsOf(row).length > 0) rowBefore = row;
      if (!rowIssue(row, header.names)) addFacts(facts, row, header.names.length, patterns);
    }
  }
  if (!header) throw importError('The file is empty.');
  return { header, encodingProblem, facts, endLine };
}

const textsOf = ({ cells }: CsvRow): string[] => cells.filter((cell) => cell.trim() !== '');

/** A row with this many known names, and with as many of them as of others, is a header. */
const MIN_KNOWN_NAMES = 3;

/** Whether a row is the header of another table. That of the same one may be repeated. */
function beginsOtherTable(row: CsvRow, { names }: CsvHeader, { isKnownName }: ReadingOptions): boolean {
  const texts = textsOf(row);
  if (texts.length < MIN_KNOWN_NAMES || !texts.slice(0, MIN_KNOWN_NAMES).some(isKnownName)) return false;
  const known = texts.filter(isKnownName).length;
  if (known < MIN_KNOWN_NAMES || known * 2 < texts.length) return false;
  const own = new Set(names.map((name) => name.trim()));
  return !texts.every((text) => own.has(text.trim())) || row.cells[0]?.trim() !== names[0]?.trim();
}

function addFacts(facts: Map<number, ColumnFacts>, { cells, line }: CsvRow, columns: number, patterns: RegExp[]): void {
  for (const [index, cell] of cells.entries()) {
    if (cell === '' || index >= columns) continue;
    const known = facts.get(index) ?? new ColumnFacts(patterns);
    facts.set(index, known);
    known.add(cell, line);
  }
}

/** Some rows of a file, with their header. */
interface RowsOfFile {
  header: CsvHeader;
  rows: Iterable<CsvRow>;
}

/** Reads a file. The header is yielded first, without rows, and then the rows, part by part. */
export async function* readRows(
  open: OpenFile,
  options: ReadingOptions,
  onProblem?: (problem: EncodingProblem) => void,
): AsyncGenerator<RowsOfFile> {
  const { header, line, text } = await openCsvText(decodeText(open(), options.encoding, onProblem), options);
  yield { header, rows: [] };
  const parser = new CsvParser(header.delimiter, line);
  for await (const part of text) {
    parser.push(part);
    yield { header, rows: wantedRows(parser.rows(false), options) };
  }
  yield { header, rows: wantedRows(parser.rows(true), options) };
}

function* wantedRows(rows: Iterable<CsvRow>, { skipRows, endLine = Infinity }: ReadingOptions): Generator<CsvRow> {
  for (const row of rows) {
    if (row.line >= endLine) return;
    if (!skipRows.some(([first, last]) => row.line >= first && row.line <= last)) yield row;
  }
}
