import { DATE_TIME_EXAMPLE, EMAIL_EXPECTED } from '../datasets/expectation';
import { quoteShortened } from '../datasets/quote';
import { DATE_FORMATS, type DateTimeOptions, parseDateTime } from './date-times';
import { joinEntries, splitEntries } from './list-cells';

/** The value of a cell cannot be read. */
export class CsvValueError extends Error {
  /**
   * @param message whole sentences, which include the value
   * @param expected what a valid value is
   * @param kind errors of one kind in one column are reported in one line; by default those with the same message
   */
  constructor(
    message: string,
    readonly expected: string,
    readonly kind?: string,
  ) {
    super(message);
  }
}

/** What people look for in a file: a way to reach somebody. */
export type ValueKind = 'address' | 'number to call' | 'link';

/** How values of one type are written in CSV. */
export interface CsvValueType {
  /**
   * Parses a cell that is not empty. A cell that holds no such value may be returned as it is: the check of the record
   * rejects it.
   * @throws CsvValueError
   */
  parse(cell: string, dateTimes: DateTimeOptions): unknown;
  /** The formats that a mapping may name. */
  formats?: readonly string[];
  /** What its values look like, if anybody can see it. */
  kind?: ValueKind;
  format(value: unknown): string;
  /** Whether blanks and invisible characters around a value are ignored. */
  isTrimmed?: boolean;
  /** Whether an export has such a column only if `--map` names it. */
  isOptional?: boolean;
}

export const textValue: CsvValueType = { parse: (cell) => cell, format: String };

/** A value around which blanks and invisible characters are ignored. */
const trimmedValue = (parse: CsvValueType['parse']): CsvValueType => ({ parse, format: String, isTrimmed: true });

export const identifierValue = trimmedValue((cell) => cell);

export const integerValue = trimmedValue((cell) => (/^\d+$/.test(cell) ? Number(cell) : cell));

export const numberValue = trimmedValue((cell) => (/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(cell) ? Number(cell) : cell));

const BOOLEANS: Record<string, boolean> = { true: true, yes: true, 1: true, false: false, no: false, 0: false };

export const booleanValue = trimmedValue((cell) => BOOLEANS[cell.toLowerCase()] ?? cell);

export const jsonValue: CsvValueType = { parse: parseJson, format: JSON.stringify, isOptional: true };

export const emailValue: CsvValueType = {
  ...trimmedValue((cell) => {
    if (!INNER_INVISIBLES.test(cell)) return cell;
    const message = `${quoteShortened(cell)} contains an invisible character. Remove it.`;
    throw new CsvValueError(message, EMAIL_EXPECTED);
  }),
  kind: 'address',
};

const DATE_TIME_EXPECTED = `${DATE_TIME_EXAMPLE}, or name the format of the column in the mapping: DMY, MDY or YMD`;

export const dateTimeValue: CsvValueType = {
  ...trimmedValue((cell, options) => {
    const problem = `Cannot read ${quoteShortened(cell)} as a date and time`;
    try {
      const utc = parseDateTime(cell, options);
      if (utc !== undefined) return utc;
    } catch (error) {
      const expected = 'another hour, or one with its time zone';
      throw new CsvValueError(`${problem}: ${(error as Error).message}. Use ${expected}.`, expected, 'skipped hour');
    }
    const { dateFormat } = options;
    const expected = dateFormat ? `a date as ${dateFormat}, or ${DATE_TIME_EXAMPLE}` : DATE_TIME_EXPECTED;
    throw new CsvValueError(`${problem}. Use ${expected}.`, expected, 'date');
  }),
  formats: DATE_FORMATS,
};

/** A day is midnight UTC, whatever the zone of the file. */
export const utcDayValue: CsvValueType = {
  ...dateTimeValue,
  parse: (cell, options) =>
    parseDateTime(cell, { dateFormat: options.dateFormat, daysOnly: true }) ?? dateTimeValue.parse(cell, options),
};

/** A list of texts that is written as `a; b`. A JSON array is accepted, too. */
export const textListValue: CsvValueType = {
  parse: (cell) => (isJsonArray(cell) ? parseJson(cell) : splitEntries(cell).map(({ text }) => text)),
  // An empty cell is null.
  format: (texts) => joinEntries(texts as string[]) || ';',
};

const isJsonArray = (cell: string): boolean => cell.trimStart().startsWith('[');

/** The value of a JSON text; the text itself if it is not JSON. */
function parseJson(cell: string): unknown {
  try {
    return JSON.parse(cell);
  } catch {
    return cell;
  }
}

const INVISIBLE = /^[\p{Cc}\p{Cf}\p{Z}]$/u;
const INVISIBLE_ENDS = /^[\p{Cc}\p{Cf}\p{Z}]|[\p{Cc}\p{Cf}\p{Z}]$/u;
const INNER_INVISIBLES = /(?! )[\p{Cc}\p{Cf}\p{Z}]/u;

/**
 * Removes blanks and invisible characters around a text. A regular expression that looks for runs of them before the end
 * would take quadratic time over a long run within the text.
 */
export function trimInvisible(text: string): string {
  if (!INVISIBLE_ENDS.test(text)) return text;
  const characters = [...text];
  const isVisible = (character: string): boolean => !INVISIBLE.test(character);
  const first = characters.findIndex(isVisible);
  return first < 0 ? '' : characters.slice(first, characters.findLastIndex(isVisible) + 1).join('');
}
