import { toUtc } from '../../fields/text';

/** The orders of day, month and year in dates such as 5/4/2026: it is April 5 as DMY, and May 4 as MDY. */
export const DATE_FORMATS = ['DMY', 'MDY', 'YMD'] as const;
export type DateFormat = (typeof DATE_FORMATS)[number];

export interface DateTimeOptions {
  /** The time zone of date-times that name none; UTC if undefined. */
  timeZone?: string;
  /** By default, dates are written as in ISO 8601. */
  dateFormat?: DateFormat;
  /** Whether to read days without a time alone. */
  daysOnly?: boolean;
  /** Called for a time that the clocks of the zone show twice, with the offset that is taken, such as `+02:00`. */
  onRepeatedHour?: (value: string, offset: string) => void;
}

/** The parts of a date, and its text within a cell. */
type DateParts = Record<'text' | 'year' | 'month' | 'day', string>;

const WEEKDAY = '(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? )?';
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH = `(?<month>${MONTHS.join('|')})[a-z]{0,6}\\.?`;
const DAY = '(?<day>\\d{1,2})(?:st|nd|rd|th)?';
const YEAR = '(?<year>\\d{4}|\\d{2})(?!\\d)';

const ISO_DATE = /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})/;

/** The forms of dates that every format reads. */
const CLEAR_DATES = [
  ISO_DATE,
  new RegExp(`^${WEEKDAY}${MONTH} ${DAY},? ${YEAR}`, 'i'),
  new RegExp(`^${WEEKDAY}${DAY}\\.?[ -]${MONTH}[ -]${YEAR}`, 'i'),
];

/** Those whose order of day and month their form does not tell. */
const NUMERIC_DATES: Record<DateFormat, RegExp> = {
  DMY: /^(?<day>\d{1,2})(?<separator>[/.-])(?<month>\d{1,2})\k<separator>(?<year>\d{4}|\d{2})(?!\d)/,
  MDY: /^(?<month>\d{1,2})(?<separator>[/.-])(?<day>\d{1,2})\k<separator>(?<year>\d{4}|\d{2})(?!\d)/,
  YMD: /^(?<year>\d{4}|\d{2})(?<separator>[/.-])(?<month>\d{1,2})\k<separator>(?<day>\d{1,2})(?!\d)/,
};

const CLOCK =
  /^(\d{1,2})(?::(\d{2})(?::(\d{2})(\.\d{1,9})?)?)?(?:[ \u00a0\u202f]?([ap])\.?m\.?)?(?: ?(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?$/i;

/** No format of a date and time is longer than this. */
const MAX_LENGTH = 60;

/** The date with which a cell begins, if it has one of the forms. */
function datePart(cell: string, forms: RegExp[]): DateParts | undefined {
  for (const form of forms) {
    const match = form.exec(cell);
    if (match) return { ...(match.groups as DateParts), text: match[0] };
  }
  return undefined;
}

/** A date as ISO 8601 has it. */
function dayOf({ year, month, day }: DateParts): string {
  const number = MONTHS.indexOf(month.toLowerCase()) + 1 || month;
  return `${year.padStart(4, '20')}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`;
}

/**
 * Parses a date, or a date with a time, into ISO 8601 in UTC. Returns undefined if it is neither.
 * @throws RangeError for an hour that the clocks of the time zone skip
 */
export function parseDateTime(
  cell: string,
  { timeZone, dateFormat, daysOnly, onRepeatedHour }: DateTimeOptions,
): string | undefined {
  if (cell.length > MAX_LENGTH) return undefined;
  const date = datePart(cell, dateFormat ? [...CLEAR_DATES, NUMERIC_DATES[dateFormat]] : [ISO_DATE]);
  if (!date || (!dateFormat && /[ap]\.?m/i.test(cell))) return undefined;
  const rest = cell.slice(date.text.length);
  if (daysOnly && rest !== '') return undefined;
  const [, clockText = ''] = /^(?:T|,? +(?:at )?)(.*)$/s.exec(rest) ?? [];
  const clock = rest === '' ? MIDNIGHT : parseClock(clockText);
  if (!clock) return undefined;
  const { time, zone } = clock;
  const utc = toUtc(`${dayOf(date)}T${time}${zone ?? 'Z'}`);
  return utc && timeZone && !zone ? toZone(utc, timeZone, (offset) => onRepeatedHour?.(cell, offset)) : utc;
}

/** A time of day in the form of ISO 8601. */
interface Clock {
  time: string;
  zone?: string;
}

const MIDNIGHT: Clock = { time: '00:00:00' };

function parseClock(text: string): Clock | undefined {
  const [, hour = '', minute, second = '00', fraction = '', half, zone] = CLOCK.exec(text) ?? [];
  const isOfHalf = Number(hour) >= 1 && Number(hour) <= 12;
  if (hour === '' || (half === undefined ? minute === undefined : !isOfHalf)) return undefined;
  const hours = half === undefined ? hour : String((Number(hour) % 12) + (/p/i.test(half) ? 12 : 0));
  const time = `${hours.padStart(2, '0')}:${minute ?? '00'}:${second}${fraction}`;
  return { time, zone: zone?.replace(/^(?:UTC|GMT)$/i, 'Z').toUpperCase() };
}

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
const offsetText = (offset: number): string =>
  `${offset < 0 ? '-' : '+'}${new Date(Math.abs(offset)).toISOString().slice(11, 16)}`;

const DAY_MS = 86_400_000;

/** Formats are cached, because creating one takes longer than using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** How many milliseconds the clocks of a time zone are ahead of UTC. */
function offsetMs(instant: number, timeZone: string): number {
  const options = { timeZone, dateStyle: 'short', timeStyle: 'medium' } as const;
  // Swedes write dates and times as ISO 8601 does, but for a blank.
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('sv', options);
  formats.set(timeZone, format);
  const shown = Date.parse(`${format.format(instant).padStart(19, '0').replace(' ', 'T')}Z`);
  return shown - Math.floor(instant / 1000) * 1000;
}
