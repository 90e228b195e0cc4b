/** How the API reference shows the kinds of value that fields and parameters hold: type, limits, and an example. */

/** The lowest integer of an order, which may go below zero as counts may not. */
export const MIN_INT32 = -(2 ** 31);
export const MAX_INT32 = 2_147_483_647;

export const int32 = (minimum = 0, maximum = MAX_INT32) =>
  ({ type: 'integer', format: 'int32', minimum, maximum }) as const;

export const int64 = (minimum: number) =>
  ({ type: 'integer', format: 'int64', minimum, maximum: Number.MAX_SAFE_INTEGER }) as const;

/** A decimal number as text, because a number would be rounded. */
export const decimalText = (integerDigits: number, scale: number) => ({
  type: 'string' as const,
  format: 'decimal',
  pattern: `^-?\\d{1,${Math.max(1, integerDigits)}}${scale > 0 ? `(\\.\\d{1,${scale}})?` : ''}$`,
  example: scale > 0 ? '19.95' : '19',
});

export const NUMERIC_ID = { ...int64(1), example: 1 } as const;

/**
 * Each context has the example ids of its own records. They are those of the demo, so that what a reader copies is found on
 * a server that was started for the first time. Where a field gives no example, this one stands, which is a lead's.
 */
export const UUID = {
  type: 'string',
  format: 'uuid',
  minLength: 36,
  maxLength: 36,
  example: '448e55d6-0a6e-5e30-81d1-19527287a0c9',
} as const;

/** Of a string with at most so many characters; one that must not be blank has another character than white space. */
export const text = (maxLength: number, mayBeBlank: boolean) => ({
  type: 'string' as const,
  maxLength,
  ...(mayBeBlank ? {} : { minLength: 1, pattern: '\\S' }),
});

/** Not of the format `email`: what validators take for one refuses letters beyond ASCII and quotes, which are allowed. */
export const email = (maxLength: number) => ({
  type: 'string',
  pattern: '[^@]@[^@]+\\.[^@.]{2,}$',
  maxLength,
  example: 'ada.rowe@example.com',
});

export const DAY = { type: 'string', format: 'date', minLength: 10, maxLength: 10, example: '2026-05-04' } as const;

const DATE_TIME_EXAMPLE = '2026-05-04T09:30:00.000Z';

/** As answers show it: in UTC, with milliseconds. */
export const DATE_TIME = {
  type: 'string',
  format: 'date-time',
  minLength: 24,
  maxLength: 24,
  example: DATE_TIME_EXAMPLE,
} as const;

/**
 * As clients may give it: from a plain day to nine decimals of a second with an offset from UTC. The format `date-time`
 * has no plain day and no minute without seconds, but a second 60 and letters in lower case.
 */
export const DATE_TIME_INPUT = {
  type: 'string',
  pattern:
    '^\\d{4}-\\d{2}-\\d{2}(T([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d{1,9})?)?(Z|[+-]([01]\\d|2[0-3])(:?[0-5]\\d)?))?$',
  minLength: 10,
  maxLength: 35,
  example: DATE_TIME_EXAMPLE,
} as const;

/** The same with a time of day and a zone. */
export const ZONED_DATE_TIME = {
  ...DATE_TIME_INPUT,
  pattern:
    '^\\d{4}-\\d{2}-\\d{2}T([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d{1,9})?)?(Z|[+-]([01]\\d|2[0-3])(:?[0-5]\\d)?)$',
  minLength: 17,
} as const;

export const TIME_OF_DAY = {
  type: 'string',
  pattern: '^([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d$',
  minLength: 8,
  maxLength: 8,
  example: '09:30:00',
} as const;
