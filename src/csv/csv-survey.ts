import { isUuid } from '../fields/text';
import type { EncodingProblem } from '../datasets/open';
import { type CsvHeader, openCsv, type OpenFile, textsOf } from './delimiter-and-header';
import { type ColumnNames, wordsOf } from './column-names';
import type { CsvFormat } from './csv-options';
import type { CsvRow } from './csv-parser';
import type { ColumnWords } from './csv-section';
import { trimInvisible } from './csv-values';
import { rowIssue } from './row-issues';
import { type DateFormat, isDateOnly, isTimeOnly, numericDate } from './date-times';

/** How many different values of a column are counted. */
export const MAX_COUNTED = 50;

const LINK_OR_EMAIL = /@|https?:|^www\.|^[\w-]+(?:\.[\w-]+)*\.[a-z]{2,12}(?:\/\S*)?$/i;
const PHONE = /^(?:[+(0][\d\s()./-]{6,}|\d{3}[\s./-]\d{3}[\s./-]\d{4}|[2-9]\d{9})$/;

/** Whether a value looks like an address, a number to call, a link or a company. */
function isContact(value: string, { companyForms, streets }: ColumnWords): boolean {
  if (LINK_OR_EMAIL.test(value) || (PHONE.test(value) && !isDateOnly(value))) return true;
  const words = wordsOf(value);
  if (words.length > 1 && companyForms.includes(words.at(-1) ?? '')) return true;
  const isStreet = (word: string): boolean =>
    streets.some((street) => word === street || (street.length > 4 && word.endsWith(street)));
  return /\d/.test(value) && words.some(isStreet);
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
  readonly patterns: Set<RegExp>;
  /** How often the first different values occur. */
  readonly counts = new Map<string, number>();
  readonly dates = new DateOrder();

  constructor(
    patterns: RegExp[],
    private readonly words: ColumnWords,
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
  areMostly = (condition: (value: string) => boolean): boolean => this.countOf(condition) * 2 > this.values;

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
}

/** What the numeric dates of a column tell about their order of day and month. */
class DateOrder {
  /** The first and the last date in each order; NaN if one of the dates is none in it. */
  private readonly spans = { DMY: { first: Infinity, last: -Infinity }, MDY: { first: Infinity, last: -Infinity } };
  private separator = '';

  add(value: string): void {
    const date = numericDate(value);
    if (!date || (date.DMY === undefined && date.MDY === undefined)) return;
    this.separator ||= date.separator;
    for (const format of ['DMY', 'MDY'] as const) {
      const span = this.spans[format];
      span.first = Math.min(span.first, date[format] ?? NaN);
      span.last = Math.max(span.last, date[format] ?? NaN);
    }
  }

  /** The order that the values prove. */
  get format(): DateFormat | undefined {
    const { DMY, MDY } = this.spans;
    if (Number.isNaN(DMY.first) === Number.isNaN(MDY.first)) return undefined;
    return Number.isNaN(MDY.first) ? 'DMY' : 'MDY';
  }

  /** The order by which the dates are closest together; undefined if neither order fits all of them. */
  get likelyFormat(): DateFormat | undefined {
    const { DMY, MDY } = this.spans;
    const difference = DMY.last - DMY.first - (MDY.last - MDY.first);
    if (this.separator === '' || Number.isNaN(difference)) return this.format;
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

/**
 * @param patterns of IDs
 * @throws ImportError if the file cannot be read
 */
export async function surveyFile(
  open: OpenFile,
  format: CsvFormat,
  names: ColumnNames,
  patterns: RegExp[],
): Promise<Survey> {
  let encodingProblem: EncodingProblem | undefined;
  const { header, parts } = await openCsv(open, format, names, (problem) => (encodingProblem = problem));
  const facts = new Map<number, ColumnFacts>();
  const tableEnd = new TableEnd(header, names);
  for await (const rows of parts) {
    for (const row of rows) {
      const endLine = tableEnd.lineBefore(row);
      if (endLine !== undefined) return { header, encodingProblem, facts, endLine };
      if (rowIssue(row, header.names)) continue;
      for (const [index, cell] of row.cells.entries()) {
        if (cell === '' || index >= header.names.length) continue;
        const known = facts.get(index) ?? new ColumnFacts(patterns, names.words);
        facts.set(index, known);
        known.add(cell, row.line);
      }
    }
  }
  return { header, encodingProblem, facts };
}

/** Finds the end of a table. */
class TableEnd {
  private rowBefore: CsvRow | undefined;
  /** Where the rows of one text, or the blank lines, begin that stand right before a row. */
  private gapLine: number | undefined;

  constructor(
    private readonly header: CsvHeader,
    private readonly names: ColumnNames,
  ) {}

  /** The line on which another table begins, if the row is its header. A line such as `Panelist Details` is its title. */
  lineBefore(row: CsvRow): number | undefined {
    const { rowBefore } = this;
    const texts = textsOf(row);
    if (rowBefore && row.line > rowBefore.line + 1 && row.line > endOf(rowBefore)) this.gapLine ??= row.line;
    if (this.isOtherHeader(row, texts)) return this.gapLine ?? row.line;
    this.gapLine = texts.length > 1 ? undefined : (this.gapLine ?? row.line);
    this.rowBefore = row;
    return undefined;
  }

  /** Whether a row is the header of another table. Below a gap, words with which names of columns end are enough. */
  private isOtherHeader({ cells }: CsvRow, texts: string[]): boolean {
    const { isKnown, isLikeName } = this.names;
    const isAlike = (text: string): boolean => isKnown(text) || isLikeName(text);
    const hasValue = texts.some((text) => /@|\d{4}/.test(text));
    if (texts.length < 2 || hasValue || !texts.slice(0, 3).some(isAlike)) return false;
    const known = texts.filter(isKnown).length;
    const alike = texts.filter(isAlike).length;
    const isHeader =
      this.gapLine === undefined
        ? (known > 2 && known * 2 >= texts.length) || (known > 1 && alike > 2 && alike === texts.length)
        : alike > 1 && alike * 2 >= texts.length;
    if (!isHeader) return false;
    // The header of the same table may be repeated.
    const own = this.header.names.map((name) => name.trim());
    return !texts.every((text) => own.includes(text.trim())) || cells[0]?.trim() !== own[0];
  }
}

/** The number of the first line after a row. */
const endOf = ({ line, cells }: CsvRow): number => line + 1 + (cells.join('').match(/\r\n|\n|\r/g)?.length ?? 0);
