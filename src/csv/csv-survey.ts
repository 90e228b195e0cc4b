import { isUuid } from '../fields/text';
import { decodeText, type EncodingProblem } from '../datasets/open';
import { importError } from '../datasets/import-error';
import { type CsvHeader, openCsvText, textsOf } from './csv-header';
import { type ColumnNames, wordsOf } from './column-names';
import { plainText } from './csv-formulas';
import { CsvParser, type CsvRow } from './csv-parser';
import type { ColumnWords } from './csv-section';
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
  names: ColumnNames;
  /** Whether cells that look like a formula stay as they are. */
  raw: boolean;
  /** The line from which on rows belong to another table. */
  endLine?: number;
}

/** How many different values of a column are counted. */
export const MAX_COUNTED = 50;

const LINK_OR_EMAIL = /@|https?:|^www\.|^[\w-]+(?:\.[\w-]+)*\.[a-z]{2,12}(?:\/\S*)?$/i;
const PHONE = /^(?:[+(0][\d\s()./-]{6,}|\d{3}[\s./-]\d{3}[\s./-]\d{4}|[2-9]\d{9})$/;

/** Whether a value looks like an address, a number to call, a link or a company. */
function isContact(value: string, words?: ColumnWords): boolean {
  if (LINK_OR_EMAIL.test(value) || (PHONE.test(value) && !isDateOnly(value))) return true;
  const inValue = wordsOf(value);
  if (inValue.length > 1 && words?.companyForms.includes(inValue.at(-1) ?? '')) return true;
  return (
    /\d/.test(value) &&
    inValue.some((word) =>
      words?.streets.some((street) => word === street || (street.length > 4 && word.endsWith(street))),
    )
  );
}

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
  readonly counts = new Map<string, number>();
  private readonly dates = new DateOrder();

  constructor(
    patterns: RegExp[],
    private readonly words?: ColumnWords,
  ) {
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

  /** Whether most values meet a condition. */
  areMostly(condition: (value: string) => boolean): boolean {
    return this.countOf(condition) * 2 > this.values;
  }

  /** How many of the counted values meet a condition. */
  countOf = (condition: (value: string) => boolean): number =>
    [...this.counts].reduce((sum, [value, count]) => sum + (condition(value) ? count : 0), 0);

  get differentValues(): string[] {
    return [...this.counts.keys()];
  }

  /** Whether some values look like a way to reach somebody. */
  get hasContact(): boolean {
    return this.differentValues.some((value) => isContact(value, this.words));
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

/** The span of time of a column's dates, if they are read in one order. */
interface DateSpan {
  isPossible: boolean;
  first: number;
  last: number;
}

/** What the numeric dates of a column tell about their order of day and month. */
class DateOrder {
  private readonly spans: Record<DateFormat, DateSpan> = {
    DMY: { isPossible: true, first: Infinity, last: -Infinity },
    MDY: { isPossible: true, first: Infinity, last: -Infinity },
  };
  private separator = '';

  add(value: string): void {
    const date = numericDate(value);
    if (!date || (date.DMY === undefined && date.MDY === undefined)) return;
    this.separator ||= date.separator;
    for (const format of ['DMY', 'MDY'] as const) {
      const span = this.spans[format];
      const time = date[format];
      span.isPossible &&= time !== undefined;
      span.first = Math.min(span.first, time ?? Infinity);
      span.last = Math.max(span.last, time ?? -Infinity);
    }
  }

  get format(): DateFormat | undefined {
    const { DMY, MDY } = this.spans;
    if (DMY.isPossible === MDY.isPossible) return undefined;
    return DMY.isPossible ? 'DMY' : 'MDY';
  }

  get likelyFormat(): DateFormat | undefined {
    const { DMY, MDY } = this.spans;
    if (this.separator === '' || DMY.isPossible !== MDY.isPossible || !DMY.isPossible) return this.format;
    const difference = DMY.last - DMY.first - (MDY.last - MDY.first);
    if (this.separator === '.' || difference < 0) return 'DMY';
    return difference > 0 || this.separator === '/' ? 'MDY' : 'DMY';
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
export async function surveyFile(
  open: OpenFile,
  options: ReadingOptions,
  patterns: RegExp[],
  words?: ColumnWords,
): Promise<Survey> {
  const facts = new Map<number, ColumnFacts>();
  const newFacts = (): ColumnFacts => new ColumnFacts(patterns, words);
  let encodingProblem: EncodingProblem | undefined;
  let header: CsvHeader | undefined;
  let endLine: number | undefined;
  let rowBefore: CsvRow | undefined;
  /** Where the rows of one text, or the blank lines, begin that stand right before a row. */
  let gapLine: number | undefined;
  const onProblem = (problem: EncodingProblem) => (encodingProblem = problem);
  reading: for await (const part of readRows(open, options, onProblem)) {
    header = part.header;
    for (const row of part.rows) {
      const texts = textsOf(row);
      if (rowBefore && row.line > rowBefore.line + 1 && row.line > endOf(rowBefore)) gapLine ??= row.line;
      if (beginsOtherTable(row, texts, gapLine !== undefined, header, options.names)) {
        // A line such as `Panelist Details` is the title of the other table.
        endLine = gapLine ?? row.line;
        break reading;
      }
      gapLine = texts.length > 1 ? undefined : (gapLine ?? row.line);
      rowBefore = row;
      if (!rowIssue(row, header.names)) addFacts(facts, row, header.names.length, newFacts);
    }
  }
  if (!header) throw importError('The file is empty.');
  return { header, encodingProblem, facts, endLine };
}

/** The number of the first line after a row. */
const endOf = ({ line, cells }: CsvRow): number => line + 1 + (cells.join('').match(/\r\n|\n|\r/g)?.length ?? 0);

/**
 * Whether a row is the header of another table. That of the same one may be repeated. Below a gap, words with which names of
 * columns end are enough.
 */
function beginsOtherTable(
  { cells }: CsvRow,
  texts: string[],
  isBelowGap: boolean,
  { names }: CsvHeader,
  { isKnown, isLikeName }: ColumnNames,
): boolean {
  if (
    texts.length < 2 ||
    texts.some((text) => /@|\d{4}/.test(text)) ||
    !texts.slice(0, 3).some((text) => isKnown(text) || isLikeName(text))
  )
    return false;
  const known = texts.filter(isKnown).length;
  const alike = texts.filter((text) => isKnown(text) || isLikeName(text)).length;
  const isHeader = isBelowGap
    ? alike > 1 && alike * 2 >= texts.length
    : (known > 2 && known * 2 >= texts.length) || (known > 1 && alike > 2 && alike === texts.length);
  if (!isHeader) return false;
  const own = new Set(names.map((name) => name.trim()));
  return !texts.every((text) => own.has(text.trim())) || cells[0]?.trim() !== names[0]?.trim();
}

function addFacts(
  facts: Map<number, ColumnFacts>,
  { cells, line }: CsvRow,
  columns: number,
  newFacts: () => ColumnFacts,
): void {
  for (const [index, cell] of cells.entries()) {
    if (cell === '' || index >= columns) continue;
    const known = facts.get(index) ?? newFacts();
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

function* wantedRows(rows: Iterable<CsvRow>, options: ReadingOptions): Generator<CsvRow> {
  const { skipRows, raw, endLine = Infinity } = options;
  for (const row of rows) {
    if (row.line >= endLine) return;
    if (skipRows.some(([first, last]) => row.line >= first && row.line <= last)) continue;
    yield raw ? row : { ...row, cells: row.cells.map(plainText) };
  }
}
