import { applyDecorators } from '@nestjs/common';
import { Type } from 'class-transformer';
import {
  dateCheck,
  everyEntry,
  findDuplicate,
  integerCheck,
  invalidEntry,
  invalidObject,
  isWithin,
  listCheck,
  numberCheck,
  patternCheck,
  textCheck,
} from './checks';
import {
  type Check,
  type Class,
  type Convert,
  field,
  type FieldDefinition,
  type FieldOptions,
  toInstanceIfObject,
} from './field-rules';
import { invalidTextReason } from './invalid-reason';
import { MAX_EXACT_DIGITS } from '../data/schema/columns';
import {
  DATE_TIME,
  DATE_TIME_INPUT,
  DAY,
  decimalText,
  email,
  int32,
  NUMERIC_ID,
  text,
  TIME_OF_DAY,
  UUID,
} from './value-schemas';
import {
  isBlank,
  isCalendarDay,
  isStorableJson,
  isStorableText,
  isUtc,
  isUuid,
  isVisibleEmail,
  isWithinLength,
  toUtc,
} from './text';

/**
 * The kinds of field of bodies, queries, dataset records and responses. One decorator gives both the check and the
 * description (`field-rules.ts`).
 *
 * Examples of bodies and responses are built from those of their fields: a nullable field without one is null there, and
 * an optional field without one is left out.
 */

export const optional = { optional: true } as const;
export const nullable = { nullable: true } as const;
export const optionalNullable = { ...optional, ...nullable } as const;

/** Maximum characters of a string, by what it holds. */
export const MAX_LENGTH = { name: 255, url: 2048, prose: 65_535 } as const;

/** Maximum entries of a list that has no other limit: PostgreSQL renders at most 1 GiB, and an entry has 40 bytes or more. */
export const MAX_ENTRIES = 26_843_545;

/** The decorator of a field without options of its own. */
const fieldOf =
  (definition: FieldDefinition) =>
  (options: FieldOptions = {}): PropertyDecorator =>
    field(definition, options);

/** Text of at most `max` characters. A required one must not be blank; an optional one only with `blank: false`. */
export function Text({
  max = MAX_LENGTH.name,
  blank,
  ...options
}: FieldOptions<{ max?: number; blank?: boolean }> = {}) {
  const mayBeBlank = blank ?? (options.optional || options.nullable || false);
  // Most fields are texts, so this check calls no other one that says whether they are valid.
  const check: Check = (value) => {
    const isValid = isStorableText(value) && isWithinLength(value, max) && (mayBeBlank || !isBlank(value));
    return isValid ? undefined : invalidTextReason(value, max);
  };
  return field({ kind: 'text', schema: text(max, mayBeBlank), check }, options);
}

const isShortText = (value: unknown): value is string =>
  isStorableText(value) && isWithinLength(value, MAX_LENGTH.name);
const isEmailText = (value: unknown): boolean => isShortText(value) && isVisibleEmail(value);

export const Email = fieldOf({
  kind: 'email',
  schema: email(MAX_LENGTH.name),
  check: textCheck(isEmailText, MAX_LENGTH.name),
});

export const BooleanField = fieldOf({
  schema: { type: 'boolean' },
  check: (value) => (typeof value === 'boolean' ? undefined : 'type'),
});

/** An integer within int32, not negative unless `min` says so. */
export function Int32({ min, max, ...options }: FieldOptions<{ min?: number; max?: number }> = {}) {
  const schema = int32(min, max);
  return field({ schema, check: integerCheck(schema) }, options);
}

type DecimalOptions = FieldOptions<{
  /** The number of all digits, as in the column `numeric(precision, scale)`. Without it, any finite number is valid. */
  precision?: number;
  /** The number of digits after the point. */
  scale?: number;
  /** The lowest and the highest value, for a precision of at most 15. */
  min?: number;
  max?: number;
}>;

/**
 * A decimal number, of a `numeric` column. In JSON, it is a number up to a precision of 15, and beyond that a text such as
 * `"12345678901234567.89"`, because a number would be rounded; its SQL is then `column::text`. Nothing is ever rounded: a value
 * with more decimals than the scale is invalid.
 * @throws Error when the precision does not include the scale
 */
export function Decimal({ precision, scale = 0, min, max, ...options }: DecimalOptions = {}) {
  if (precision === undefined)
    return field({ schema: { type: 'number' }, check: numberCheck(Number.isFinite) }, options);
  const integerDigits = precision - scale;
  if (scale < 0 || integerDigits < 0) throw new Error(`The precision ${precision} does not include the scale ${scale}`);
  if (precision > MAX_EXACT_DIGITS) {
    const schema = decimalText(integerDigits, scale);
    return field({ decimal: { integerDigits, scale }, schema, check: patternCheck(schema) }, options);
  }
  const limit = Number(`${'9'.repeat(integerDigits)}.${'9'.repeat(scale)}`);
  const schema = { type: 'number', format: 'decimal', minimum: min ?? -limit, maximum: max ?? limit };
  const hasScale = (value: number): boolean => Number(value.toFixed(scale)) === value;
  const check = numberCheck((value) => isWithin(value, schema) && hasScale(value));
  return field({ decimal: { integerDigits, scale }, schema, check }, options);
}

/** Any JSON value, of a `jsonb` column. */
export const JsonField = fieldOf({
  kind: 'json',
  schema: {},
  check: (value) => (isStorableJson(value) ? undefined : 'unstorable'),
});

/** The id of an event or a user: an integer from 1 to 2^53 - 1. */
export const NumericId = fieldOf({ schema: NUMERIC_ID, check: integerCheck(NUMERIC_ID) });

/** One of the values of an enumeration, which the API reference lists under its name. */
export function OneOf(values: readonly string[], name: string, options: FieldOptions = {}): PropertyDecorator {
  const schema = { enum: [...values], enumName: name, enumSchema: { description: options.description } };
  return field({ schema, check: textCheck((value) => values.includes(value as string)) }, options);
}

const toLowerCase = (value: unknown): unknown => (isUuid(value) ? value.toLowerCase() : value);

/** A uuid, converted to lower case as PostgreSQL shows it. */
export const Uuid = fieldOf({
  kind: 'uuid',
  schema: UUID,
  check: textCheck(isUuid),
  convert: toLowerCase,
});

/** Not before the day or date-time in another field of the same object. */
type NotBefore = FieldOptions<{ notBefore?: string }>;

/** A day, YYYY-MM-DD. */
export const Day = ({ notBefore, ...options }: NotBefore = {}) =>
  field({ kind: 'date', schema: DAY, check: dateCheck(isCalendarDay, notBefore) }, options);

const dateTime = (schema: object, start?: string): FieldDefinition => ({
  kind: 'date-time',
  schema,
  check: dateCheck(isUtc, start),
  convert: (value) => toUtc(value) ?? value,
});

/** A date-time, converted to ISO 8601 in UTC with milliseconds; the API reference shows that form. */
export const DateTime = fieldOf(dateTime(DATE_TIME));

/** The same in a body; the API reference shows every form that is accepted. */
export const DateTimeInput = (options: NotBefore = {}) => {
  const { notBefore, ...others } = options;
  return field(dateTime(DATE_TIME_INPUT, notBefore), others);
};

const isUtcOfAnyPrecision = (value: unknown): boolean =>
  typeof value === 'string' && value.endsWith('Z') && toUtc(value) !== undefined;

const toMicroseconds = (value: unknown): unknown =>
  typeof value === 'string' ? value.replace(/(\.\d{6})\d{1,3}Z$/, '$1Z') : value;

/** A date-time in UTC, cut to microseconds: PostgreSQL would round it, even out of the year 9999. */
export const PreciseDateTime = fieldOf({
  kind: 'date-time',
  schema: DATE_TIME,
  check: textCheck(isUtcOfAnyPrecision),
  convert: toMicroseconds,
});

/** A time of day, HH:MM:SS. */
export const TimeOfDay = fieldOf({ kind: 'time', schema: TIME_OF_DAY, check: patternCheck(TIME_OF_DAY) });

type ListOptions = FieldOptions<{
  min?: number;
  max?: number;
  /** Entries differ: as texts, or in a field. The second of two alike is invalid. */
  distinct?: string | true;
}>;

/** An array of strings of at most 255 characters. An invalid entry makes the array invalid: entries are not fields. */
export const TextList = ({ max = 100, ...options }: ListOptions = {}) =>
  field(
    {
      kind: 'text',
      schema: { type: 'array', items: text(MAX_LENGTH.name, true), maxItems: max },
      check: listCheck(0, max, (entries) => {
        const invalid = entries.findIndex((entry) => !isShortText(entry));
        return invalid < 0 ? undefined : invalidTextReason(entries[invalid], MAX_LENGTH.name);
      }),
    },
    options,
  );

export const EmailList = ({ max = 1000, distinct, ...options }: ListOptions = {}) =>
  field(
    {
      kind: 'email',
      schema: { type: 'array', items: email(MAX_LENGTH.name), maxItems: max },
      check: everyEntry(max, isEmailText, MAX_LENGTH.name, distinct),
    },
    options,
  );

export const UuidList = ({ max = 1000, distinct, ...options }: ListOptions = {}) =>
  field(
    {
      kind: 'uuid',
      schema: { type: 'array', items: UUID, maxItems: max },
      check: everyEntry(max, isUuid, undefined, distinct),
      convert: (value) => (Array.isArray(value) ? value.map(toLowerCase) : value),
    },
    options,
  );

/**
 * An array of objects of one class, whose fields the decorators of this file declare. Which class may depend on the object
 * that holds the array.
 */
export function ListOf(
  type: (parent?: object) => Class,
  { min = 0, max = 1000, distinct, ...options }: ListOptions = {},
): PropertyDecorator {
  const check = listCheck(min, max, (entries) => invalidEntry(entries) ?? findDuplicate(entries, distinct));
  const convert: Convert = (value, parent) => {
    if (!Array.isArray(value)) return value;
    const entryType = type(parent);
    return value.map((entry) => toInstanceIfObject(entry, entryType));
  };
  const schema = { type: () => type(), isArray: true, ...(min > 0 && { minItems: min }), maxItems: max };
  return applyDecorators(field({ schema, distinct, check, convert }, options), classOfEntries(type));
}

/** Of which class the objects of a field are, for a `ValidationPipe` of a module, which would guess. */
const classOfEntries = (type: (parent?: object) => Class): PropertyDecorator =>
  Type((help) => type(help?.object as object | undefined));

/** One object of a class, whose fields the decorators of this file declare. */
export function ObjectOf(type: () => Class, options: FieldOptions = {}): PropertyDecorator {
  const convert: Convert = (value) => toInstanceIfObject(value, type());
  return applyDecorators(
    field({ schema: { type: () => type() }, check: invalidObject, convert }, options),
    classOfEntries(type),
  );
}
