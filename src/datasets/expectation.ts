import {
  type DecimalDigits,
  type FieldError,
  type FieldSchema,
  schemasOf,
  type TextKind,
  type ValueSchema,
} from '../fields/field-rules';
import { isCalendarDay, isStorableText, toUtc } from '../fields/text';

/** What is wrong with a value, and what a valid one is. */
export interface ValueProblem {
  /** Whole sentences. */
  message: string;
  /** A phrase that reads well after `Use`. */
  expected: string;
}

/** What a field expects, and how a message begins that shows a value of another kind. */
interface Expectation {
  expected: string;
  rejects: (value: string) => string;
}

export const DATE_TIME_EXAMPLE = '2026-05-04T09:12:00Z';
export const EMAIL_EXPECTED = 'an address such as name@example.com';

const notValid = (noun: string, expected: string): Expectation => ({
  expected,
  rejects: (value) => `${value} is not a valid ${noun}.`,
});
const notReadable = (noun: string, expected: string): Expectation => ({
  expected,
  rejects: (value) => `Cannot read ${value} as a ${noun}.`,
});

const EXPECTATION_BY_KIND: Record<Exclude<TextKind, 'text'>, Expectation> = {
  uuid: notValid('UUID', 'a UUID such as 7c9e6679-7425-40de-944b-e07fc1f90ae7'),
  date: notReadable('date', '2026-05-04'),
  'date-time': notReadable('date and time', DATE_TIME_EXAMPLE),
  email: notValid('e-mail address', EMAIL_EXPECTED),
  time: notReadable('time', '09:30:00'),
  json: notValid('JSON value', 'a JSON value without NUL'),
};

/**
 * @param name of the field
 * @param kind of the text, or of each text of the list
 */
function describeExpected(name: string, schema: ValueSchema, kind: TextKind, decimal?: DecimalDigits): Expectation {
  const { type, isArray, items, minimum = 0, maximum, maxItems = 0, maxLength = 0, pattern } = schema;
  if (isArray || items) {
    const entries = items ? `values, each being ${describeExpected(name, items, kind).expected}` : 'objects';
    return notValid('list', `a list of at most ${maxItems} ${entries}`);
  }
  if (typeof type === 'function') {
    return notValid('object', `an object with the fields ${[...schemasOf(type()).keys()].join(', ')}`);
  }
  if (schema.enum) return notValid(name, `one of: ${schema.enum.join(', ')}`);
  if (type === 'boolean') return notValid('yes or no', 'true or false');
  if (type === 'integer') return notValid('number', `a whole number from ${minimum} to ${maximum}`);
  if (decimal && type === 'string') return notValid('decimal number', describeDecimalText(decimal));
  if (type === 'number') return notValid('number', describeNumber(schema, decimal));
  if (kind !== 'text') return EXPECTATION_BY_KIND[kind];
  const notBlank = pattern ? ' that is not blank' : '';
  return notValid('text', `text of at most ${maxLength} characters${notBlank}, without NUL`);
}

/** The problem of a text that PostgreSQL and JSON cannot hold, as the API refuses it, too. */
export const unstorableText = (shown: string): ValueProblem => ({
  message: `${shown} contains NUL or half of a character (an unpaired surrogate). Use text without it.`,
  expected: 'text without NUL and unpaired surrogates',
});

const describeDecimalText = ({ integerDigits, scale }: DecimalDigits): string =>
  `a text such as "19.95", with at most ${integerDigits} digits before the point and ${scale} after it`;

const describeNumber = ({ minimum, maximum }: ValueSchema, decimal?: DecimalDigits): string =>
  decimal ? `a number with at most ${decimal.scale} decimals, from ${minimum} to ${maximum}` : 'a number';

const isDateField = ({ kind }: FieldSchema): boolean => kind === 'date' || kind === 'date-time';

/**
 * Describes the error of a field.
 * @param shown the value as the message shows it
 */
export function describeError({ path, value, schema, repeats }: FieldError, shown: string): ValueProblem {
  if (repeats !== undefined)
    return { message: `${shown} is in the list twice. Use it once.`, expected: 'each entry once' };
  if (typeof value === 'string' && !isStorableText(value)) return unstorableText(shown);
  const valueSchema = schema.items && !Array.isArray(value) ? schema.items : schema;
  const { expected, rejects } = describeExpected(lastName(path), valueSchema, schema.kind, schema.decimal);
  const use = `Use ${expected}.`;
  if (value === undefined || value === null) return { message: `A value is missing. ${use}`, expected };
  if (isDateField(schema) && (isCalendarDay(value) || toUtc(value) !== undefined)) {
    return { message: `${shown} is before the start. Use a later date.`, expected: 'a date after the start' };
  }
  if (typeof value === 'string' && value.length > (schema.maxLength ?? Infinity)) {
    return { message: `${shown} is too long. ${use}`, expected };
  }
  return { message: `${rejects(shown)} ${use}`, expected };
}

/** The name of the field at a path: `type` of `phoneNumbers.leadProvided[0].type`. */
const lastName = (path: string): string => path.slice(path.lastIndexOf('.') + 1).replace(/\[\d+\]$/, '');
