import { isEmail } from 'class-validator';

/** The rules that hold for every string, number and date that a client sends, wherever it stands. */

/**
 * Maximum size in bytes of a request's head; a longer one is rejected with 431. An eventUrl of 2,048 characters may take up
 * 24,576 of them.
 */
export const MAX_HEAD_BYTES = 32_768;

/** Whether PostgreSQL and JSON can hold the text: no NUL, no unpaired surrogate. */
export const isStorableText = (value: unknown): value is string =>
  typeof value === 'string' && !value.includes('\0') && value.isWellFormed();

/** Whether `jsonb` can hold the value. */
export function isStorableJson(value: unknown): boolean {
  if (typeof value === 'string') return isStorableText(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, inner]) => isStorableText(name) && isStorableJson(inner));
}

/** Whether the text has at most `max` characters; a character outside the basic plane counts once. */
export const isWithinLength = (value: string, max: number): boolean =>
  value.length <= max || (value.length <= 2 * max && [...value].length <= max);

const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether one sees nothing of the text: it is empty, or has white space and invisible characters (U+200B, U+3164) alone. */
export const isBlank = (value: string): boolean => !VISIBLE.test(value);

const CONTROL = /[\p{Cc}\p{Cf}]/u;
/** Spaces, and separators of lines and paragraphs. */
const SEPARATOR = /\p{Z}/u;

/** Addresses that are valid beyond doubt, as nearly all are. For each of them, the library takes many times as long. */
const PLAIN_EMAIL = /^[a-z\d_+-]{1,32}(?:\.[a-z\d_+-]{1,31})?@(?:[a-z\d]{1,20}(?:-[a-z\d]{1,20})?\.){1,3}[a-z]{2,20}$/i;

/**
 * Whether the text is an address of e-mail in which one can see every character. Pasted ones often have others (U+200B, a
 * no-break space), with which they look like an address, and are another one. Between quotes there may be spaces.
 */
export function isVisibleEmail(value: string): boolean {
  if (PLAIN_EMAIL.test(value)) return true;
  const unquoted = value.slice(value.lastIndexOf('"') + 1);
  return isEmail(value) && !CONTROL.test(value) && !SEPARATOR.test(unquoted);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
export const isUuid = (value: unknown): value is string => typeof value === 'string' && UUID.test(value);

/** A number in plain decimal digits, or NaN. `Number` alone would take '', ' 5', '1e1' and '0x10'. */
export const parseDecimal = (value: unknown): number =>
  typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : NaN;

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Whether the text is a day of the calendar in the form YYYY-MM-DD, years 0001 to 9999. */
export function isCalendarDay(value: unknown): value is string {
  const [, year, month, day] = (typeof value === 'string' && DAY.exec(value)) || [];
  if (!year || year === '0000') return false;
  const date = new Date(0);
  // setUTCFullYear and not Date.UTC, which reads the years 0 to 99 as 1900 to 1999
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  // A day that the month lacks is one of another month.
  return date.getUTCMonth() === Number(month) - 1;
}

const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})(?:T((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?)(?:Z|([+-](?:[01]\d|2[0-3]))(?::?([0-5]\d))?))?$/;

/** How `toUtc` writes a date-time. */
const UTC_DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/**
 * An ISO 8601 date-time with a time zone, or a plain day (read as midnight UTC), as ISO 8601 in UTC with milliseconds;
 * undefined for anything else, also where the moment lies outside the years 0001 to 9999.
 */
export function toUtc(value: unknown): string | undefined {
  const [, day, time = '00:00', hours, minutes = '00'] = (typeof value === 'string' && DATE_TIME.exec(value)) || [];
  if (!isCalendarDay(day)) return undefined;
  if (UTC_DATE_TIME.test(value as string)) return value as string;
  const moment = new Date(`${day}T${time}${hours ? `${hours}:${minutes}` : 'Z'}`);
  const utc = Number.isNaN(moment.getTime()) ? '' : moment.toISOString();
  return /^\d{4}-/.test(utc) && !utc.startsWith('0000') ? utc : undefined;
}

/** Whether the text is a date-time as `toUtc` writes it. */
export const isUtc = (value: unknown): value is string => typeof value === 'string' && toUtc(value) === value;
