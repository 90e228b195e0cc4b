import { toUtc } from '../api/text';

/** How days with slashes or dots are read: `5/4/2026` is May of MDY, April of DMY. */
export type DateFormat = 'DMY' | 'MDY';

/** What is wanted, in words. */
export const MOMENT = '2026-05-04 or 2026-05-04T09:12:00Z';

export interface Clock {
  /** of moments that say none; undefined is UTC */
  timeZone?: string;
  dateFormat?: DateFormat;
}

const ISO = /^(\d{4})-(\d{2})-(\d{2})/;
const SLASHES = /^(\d{1,2})([/.])(\d{1,2})\2(\d{4})/;
const TIME = /^(?:T|,? +)(\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?(?: ?(Z|[+-]\d{2}(?::?\d{2})?))?$/;

/** Whether only --date-format can say which day is meant. */
export const needsFormat = (cell: string): boolean => SLASHES.test(cell);

/**
 * A day or a date-time as ISO 8601 in UTC; undefined when it is none.
 * @throws RangeError for an hour that the zone skips
 */
export function momentOf(cell: string, { timeZone, dateFormat }: Clock): string | undefined {
  const iso = ISO.exec(cell);
  const other = dateFormat && !iso ? SLASHES.exec(cell) : undefined;
  const [found, year, month, day] = iso ?? (other ? ordered(other, dateFormat) : []);
  if (found === undefined || year === undefined || month === undefined || day === undefined) return undefined;
  const rest = cell.slice(found.length);
  const [, hour = '0', minute = '00', second = '00', fraction = '', zone] = TIME.exec(rest) ?? [];
  if (rest !== '' && !TIME.test(rest)) return undefined;
  const local = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}T${hour.padStart(2, '0')}:${minute}:${second}${fraction}`;
  if (zone) return toUtc(local + zone);
  const utc = toUtc(`${local}Z`);
  return utc && timeZone ? inZone(utc, timeZone) : utc;
}

function ordered([found, one, , two, year]: string[], format?: DateFormat): (string | undefined)[] {
  return format === 'DMY' ? [found, year, two, one] : [found, year, one, two];
}

const DAY_MS = 86_400_000;

/** The moment at which the clocks of a zone show what a date-time of UTC says; the first, where they show it twice. */
function inZone(utc: string, timeZone: string): string {
  const shown = Date.parse(utc);
  const offsets = [shown - DAY_MS, shown + DAY_MS].map((at) => offsetOf(at, timeZone));
  const moments = offsets.map((offset) => shown - offset).filter((at) => at + offsetOf(at, timeZone) === shown);
  if (moments.length === 0) throw new RangeError(`is an hour that the clocks of ${timeZone} skip`);
  return toUtc(new Date(Math.min(...moments)).toISOString()) ?? utc;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Milliseconds by which the clocks of a zone are before UTC. */
function offsetOf(moment: number, timeZone: string): number {
  let format = formats.get(timeZone);
  if (!format) {
    const numeric = 'numeric';
    const parts = {
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    } as const;
    format = new Intl.DateTimeFormat('en', { timeZone, hourCycle: 'h23', ...parts });
    formats.set(timeZone, format);
  }
  const shown = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = shown;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(moment / 1000) * 1000;
}
