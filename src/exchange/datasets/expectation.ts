import {
  type DecimalDigits,
  type FieldError,
  schemasOf,
  type TextKind,
  type ValueSchema,
} from '../../fields/field-rules';

/** What is wrong with a value, and what a valid one is. */
export interface ValueProblem {
  /** Whole sentences. */
  message: string;
  /** A phrase that reads well after `Use`. */
  expected: string;
}

export const DATE_TIME_EXAMPLE = '2026-05-04T09:12:00Z';
export const EMAIL_EXPECTED = 'an address such as name@example.com';

const EXPECTED_BY_KIND: Record<Exclude<TextKind, 'text'>, string> = {
  uuid: 'a UUID such as 7c9e6679-7425-40de-944b-e07fc1f90ae7',
  date: '2026-05-04',
  'date-time': DATE_TIME_EXAMPLE,
  email: EMAIL_EXPECTED,
  time: '09:30:00',
  json: 'a JSON value without NUL',
};

/**
 * What a field expects.
 * @param kind of the text, or of each text of the list
 */
function describeExpected(schema: ValueSchema, kind: TextKind, decimal?: DecimalDigits): string {
  const { type, isArray, items, minimum = 0, maximum, maxItems = 0, maxLength = 0, pattern } = schema;
  if (isArray || items) {
    return `a list of at most ${maxItems} ${items ? `values, each being ${describeExpected(items, kind)}` : 'objects'}`;
  }
  if (typeof type === 'function') return `an object with the fields ${[...schemasOf(type()).keys()].join(', ')}`;
  if (schema.enum) return `one of: ${schema.enum.join(', ')}`;
  if (type === 'boolean') return 'true or false';
  if (type === 'integer') return `a whole number from ${minimum} to ${maximum}`;
  if (decimal && type === 'string') return describeDecimalText(decimal);
  if (type === 'number') return describeNumber(schema, decimal);
  if (kind !== 'text') return EXPECTED_BY_KIND[kind];
  return `text of at most ${maxLength} characters${pattern ? ' that is not blank' : ''}, without NUL`;
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

/**
 * Describes the error of a field.
 * @param shown the value as the message shows it
 */
export function describeError({ path, value, schema, reason }: FieldError, shown: string): ValueProblem {
  const valueSchema = schema.items && !Array.isArray(value) ? schema.items : schema;
  const expected = describeExpected(valueSchema, schema.kind, schema.decimal);
  switch (reason) {
    case 'duplicate':
      return { message: `${shown} is in the list twice. Use it once.`, expected: 'each entry once' };
    case 'unstorable':
      return unstorableText(shown);
    case 'before-start':
      return { message: `${shown} is before the start. Use a later date.`, expected: 'a date after the start' };
    case 'missing':
      return { message: `A value is missing. Use ${expected}.`, expected };
    case 'too-long':
      return { message: `${shown} is too long. Use ${expected}.`, expected };
    case 'blank':
    case 'type':
    case 'range':
    case 'format':
      return { message: `${shown} is not a valid ${lastName(path)}. Use ${expected}.`, expected };
  }
}

/** The name of the field at a path: `type` of `phoneNumbers.leadProvided[0].type`. */
const lastName = (path: string): string => path.slice(path.lastIndexOf('.') + 1).replace(/\[\d+\]$/, '');
