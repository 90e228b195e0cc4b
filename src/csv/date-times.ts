import { toUtc } from '../fields/text';

/** The order of day and month in dates such as 5/4/2026: it is April 5 as DMY, and May 4 as MDY. */
export type DateFormat = 'DMY' | 'MDY';

export interface DateTimeOptions {
  /** The time zone of date-times that name none; UTC if undefined. */
  timeZone?: string;
  dateFormat?: DateFormat;
  /**
   * Called for a time that the clocks of the time zone show twice.
   * @param offset of the first one, which is taken, such as `+02:00`
   */
  onRepeatedHour?: (cell: string, offset: string) => void;
}

/** The parts of a date. */
interface DateParts {
  /** The date within the cell. */
  text: string;
  year: string;
  month: string;
  day: string;
}

const ISO_DATE = /^(\d{4})-(\d{2})-(\d{2})/;
const NUMERIC_DATE = /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?!\d)/;
const WEEKDAY = '(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? )?';
const MONTH = '(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\\.?';
const MONTH_FIRST = new RegExp(`^${WEEKDAY}${MONTH} (\\d{1,2})(?:st|nd|rd|th)?,? (\\d{4})(?!\\d)`, 'i');
const DAY_FIRST = new RegExp(`^${WEEKDAY}(\\d{1,2})(?:st|nd|rd|th)?\\.?[ -]${MONTH}[ -](\\d{4})(?!\\d)`, 'i');
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const CLOCK =
  /^(\d{1,2})(?::(\d{2})(?::(\d{2})(\.\d{1,9})?)?)?(?:[ \u00a0\u202f]?([ap])\.?m\.?)?(?: ?(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?$/i;

/** No format of a date and time is longer than this. */
const MAX_LENGTH = 60;

/** The dates that a cell may mean, by the order of day and month, in milliseconds since 1970. */
export interface NumericDate extends Partial<Record<DateFormat, number>> {
  separator: string;
}

/** The possible dates of a cell whose form does not tell the order of day and month; undefined for any other cell. */
export function numericDate(cell: string): NumericDate | undefined {
  const text = cell.slice(0, MAX_LENGTH);
  const separator = NUMERIC_DATE.exec(text)?.[2];
  if (separator === undefined) return undefined;
  const at = (format: DateFormat): number | undefined => {
    const date = numericParts(text, format);
    const utc = date && toUtc(dayOf(date));
    return utc === undefined ? undefined : Date.parse(utc);
  };
  return { DMY: at('DMY'), MDY: at('MDY'), separator };
}

const dayOf = ({ year, month, day }: DateParts): string => `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;

/** Whether a cell is a time without a date. */
export const isTimeOnly = (cell: string): boolean =>
  cell.length <= MAX_LENGTH && /:|m\.?$/i.test(cell) && CLOCK.test(cell);

/** Whether a cell is a date without a time. */
export function isDateOnly(cell: string): boolean {
  const text = cell.slice(0, MAX_LENGTH);
  return (namedDate(text) ?? numericParts(text, 'DMY'))?.text === cell;
}

/**
 * Parses a date, or a date with a time, into ISO 8601 in UTC. Returns undefined if it is neither.
 * @throws RangeError for an hour that the clocks of the time zone skip
 */
export function parseDateTime(cell: string, options: DateTimeOptions): string | undefined {
  const { timeZone, dateFormat, onRepeatedHour } = options;
  if (cell.length > MAX_LENGTH) return undefined;
  const date = namedDate(cell) ?? (dateFormat && numericParts(cell, dateFormat));
  if (!date) return undefined;
  const rest = cell.slice(date.text.length);
  const clock = rest === '' ? MIDNIGHT : parseClock(rest.replace(/^(?:T|,? +(?:at )?)/, ''), rest);
  if (!clock) return undefined;
  const local = `${dayOf(date)}T${clock.time}`;
  if (clock.zone) return toUtc(local + clock.zone);
  const utc = toUtc(`${local}Z`);
  if (!utc || !timeZone) return utc;
  return toZone(utc, timeZone, (offset) => onRepeatedHour?.(cell, offset));
}

/** A time of day in the form of ISO 8601. */
interface Clock {
  time: string;
  zone?: string;
}

const MIDNIGHT: Clock = { time: '00:00:00' };

/** @param separated the time with the separator before it, which must not be empty */
function parseClock(text: string, separated: string): Clock | undefined {
  const [, hour = '', minute, second = '00', fraction = '', half, zone] = CLOCK.exec(text) ?? [];
  if (hour === '' || text === separated || (minute === undefined && half === undefined)) return undefined;
  const hours = half === undefined ? hour : hoursOfHalf(Number(hour), half.toLowerCase());
  if (hours === undefined) return undefined;
  const time = `${hours.padStart(2, '0')}:${minute ?? '00'}:${second}${fraction}`;
  return { time, zone: zone?.replace(/^(?:UTC|GMT)$/i, 'Z').toUpperCase() };
}

/** Converts an hour of a 12-hour clock to one of a 24-hour clock. */
function hoursOfHalf(hour: number, half: string): string | undefined {
  if (hour < 1 || hour > 12) return undefined;
  return String((hour % 12) + (half === 'p' ? 12 : 0));
}

/** Parses a date that is unambiguous without an option. */
function namedDate(cell: string): DateParts | undefined {
  const [iso, isoYear = '', isoMonth = '', isoDay = ''] = ISO_DATE.exec(cell) ?? [];
  if (iso) return { text: iso, year: isoYear, month: isoMonth, day: isoDay };
  const [monthFirst, month = '', day = '', year = ''] = MONTH_FIRST.exec(cell) ?? [];
  if (monthFirst) return { text: monthFirst, year, month: monthNumber(month), day };
  const [dayFirst, secondDay = '', secondMonth = '', secondYear = ''] = DAY_FIRST.exec(cell) ?? [];
  if (dayFirst) return { text: dayFirst, year: secondYear, month: monthNumber(secondMonth), day: secondDay };
  return undefined;
}

const monthNumber = (name: string): string => String(MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1);

function numericParts(cell: string, format: DateFormat): DateParts | undefined {
  const [text, first, , second, year] = NUMERIC_DATE.exec(cell) ?? [];
  if (!text || !first || !second || !year) return undefined;
  return format === 'DMY' ? { text, year, month: second, day: first } : { text, year, month: first, day: second };
}
const DAY_MS = 86_400_000;

/**
 * The instant at which the clocks of a time zone show a time; the first one if they show it twice.
 * @param local the time that the clocks show, written as if it were UTC
 * @param onRepeated called with the offset of the first one if they show it twice
 */
function toZone(local: string, timeZone: string, onRepeated: (offset: string) => void): string {
  const shown = Date.parse(local);
  // The offset may change on that day, so those of the day before and the day after are tried.
  const offsets = [shown - DAY_MS, shown + DAY_MS].map((instant) => offsetMs(instant, timeZone));
  const instants = offsets
    .map((offset) => shown - offset)
    .filter((instant) => instant + offsetMs(instant, timeZone) === shown);
  if (instants.length === 0) throw new RangeError(`the clocks of ${timeZone} skip this hour`);
  const first = Math.min(...instants);
  if (Math.max(...instants) > first) onRepeated(offsetText(shown - first));
  return toUtc(new Date(first).toISOString()) ?? local;
}

/** An offset such as `+02:00`. */
function offsetText(offset: number): string {
  const time = new Date(Math.abs(offset)).toISOString().slice(11, 16);
  return `${offset < 0 ? '-' : '+'}${time}`;
}

/** Formats are cached, because creating one takes longer than using it. */
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
