import { toUtc } from '../api/text';

/** The order of day and month in dates such as 5/4/2026: it is April 5 as DMY, and May 4 as MDY. */
export type DateFormat = 'DMY' | 'MDY';

export interface DateTimeOptions {
  /** The time zone of date-times that name none; UTC if undefined. */
  timeZone?: string;
  dateFormat?: DateFormat;
}

const ISO_DATE = /^(\d{4})-(\d{2})-(\d{2})/;
const NUMERIC_DATE = /^(\d{1,2})([/.])(\d{1,2})\2(\d{4})/;
const TIME = /^(?:T|,? +)(\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?(?: ?(Z|[+-]\d{2}(?::?\d{2})?))?$/;

/** Whether only `--date-format` can tell which date is meant. */
export const isNumericDate = (cell: string): boolean => NUMERIC_DATE.test(cell);

/** The parts of a date as they are written. */
interface DateParts {
  /** The date within the cell. */
  text: string;
  year: string;
  month: string;
  day: string;
}

/**
 * Parses a date, or a date with a time, into ISO 8601 in UTC. Returns undefined if it is neither.
 * @throws RangeError for an hour that the clocks of the time zone skip
 */
export function parseDateTime(cell: string, { timeZone, dateFormat }: DateTimeOptions): string | undefined {
  const date = parseIsoDate(cell) ?? (dateFormat && parseNumericDate(cell, dateFormat));
  if (!date) return undefined;
  const rest = cell.slice(date.text.length);
  const time = TIME.exec(rest);
  if (rest !== '' && !time) return undefined;
  const [, hour = '0', minute = '00', second = '00', fraction = '', offset] = time ?? [];
  const day = `${date.year}-${date.month.padStart(2, '0')}-${date.day.padStart(2, '0')}`;
  const local = `${day}T${hour.padStart(2, '0')}:${minute}:${second}${fraction}`;
  if (offset) return toUtc(local + offset);
  const utc = toUtc(`${local}Z`);
  return utc && timeZone ? toZone(utc, timeZone) : utc;
}

function parseIsoDate(cell: string): DateParts | undefined {
  const [text, year, month, day] = ISO_DATE.exec(cell) ?? [];
  return text && year && month && day ? { text, year, month, day } : undefined;
}

function parseNumericDate(cell: string, format: DateFormat): DateParts | undefined {
  const [text, first, , second, year] = NUMERIC_DATE.exec(cell) ?? [];
  if (!text || !first || !second || !year) return undefined;
  return format === 'DMY' ? { text, year, month: second, day: first } : { text, year, month: first, day: second };
}

const DAY_MS = 86_400_000;

/**
 * The instant at which the clocks of a time zone show a time; the first one if they show it twice.
 * @param local the time that the clocks show, written as if it were UTC
 */
function toZone(local: string, timeZone: string): string {
  const shown = Date.parse(local);
  // The offset may change that day, so the one before and the one after are tried.
  const offsets = [shown - DAY_MS, shown + DAY_MS].map((instant) => offsetMs(instant, timeZone));
  const instants = offsets
    .map((offset) => shown - offset)
    .filter((instant) => instant + offsetMs(instant, timeZone) === shown);
  if (instants.length === 0) throw new RangeError(`the clocks of ${timeZone} skip this hour`);
  return toUtc(new Date(Math.min(...instants)).toISOString()) ?? local;
}

/** Creating a format takes longer than using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** How many milliseconds the clocks of a time zone are ahead of UTC. */
function offsetMs(instant: number, timeZone: string): number {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(timeZone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1000) * 1000;
}
