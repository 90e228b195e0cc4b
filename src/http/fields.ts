import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptions } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { Class, Converted, firstFault, Nested } from './reader';
import { DAY, email, GIVEN_MOMENT, MOMENT, text, TIME_OF_DAY, UUID, whole, WHOLE_ID } from './schemas';
import { hasAtMost, isCalendarDay, isEmailAddress, isStorableText, isUuid, toUtc } from './text';

/**
 * The kinds of field that bodies, records of a dataset and responses are made of. Each decorator says at once what is
 * valid (class-validator) and what the API reference shows (OpenAPI).
 *
 * The examples of bodies and answers are put together from those of their fields. There, a nullable field that has none
 * is null, and an optional one is left out.
 */

/** Without either, a field must be there and not be null. */
interface Presence {
  /** may be left out */
  optional?: boolean;
  /** may be null */
  nullable?: boolean;
  /** another field: beside it this one may be any text */
  ignoredBeside?: string;
}
/** May be left out. */
export const optional = { optional: true } as const;
/** May be null. */
export const nullable = { nullable: true } as const;
/** May be left out, or null. */
export const maybe = { ...optional, ...nullable } as const;

type Options<Own = object> = Presence & Own & { description?: string; example?: unknown };

/** Undefined when the value is valid, else the path of the fault below the field: '' for the field itself. */
type Check = (value: unknown, holder: Record<string, unknown>) => string | undefined;

const where =
  (valid: (value: unknown) => boolean): Check =>
  (value) =>
    valid(value) ? undefined : '';

type Schema = object; // what ApiProperty takes beside presence, description and an example of its own

function field(check: Check, schema: Schema, options: Options, ...more: PropertyDecorator[]): PropertyDecorator {
  const { optional = false, nullable = false, ignoredBeside, ...said } = options;
  const present: Check = (value, holder) => {
    if (ignoredBeside && holder[ignoredBeside] !== undefined && typeof value === 'string') return undefined;
    if (value === undefined) return optional ? undefined : '';
    if (value === null) return nullable ? undefined : '';
    return check(value, holder);
  };
  return applyDecorators(
    ValidateBy({
      name: 'field',
      validator: {
        validate: (value, args) => present(value, args?.object as Record<string, unknown>) === undefined,
        defaultMessage: (args) => present(args?.value, args?.object as Record<string, unknown>) ?? '',
      },
    }),
    ApiProperty({
      ...schema,
      required: !optional,
      nullable: nullable || undefined,
      ...said,
    } as ApiPropertyOptions),
    ...more,
  );
}

/** The most characters of a string, by what it holds. */
export const LENGTHS = { name: 255, url: 2048, prose: 65_535 } as const;

/**
 * The most entries of a list that grows with use and has no other limit: PostgreSQL renders no text above 1 GiB, of
 * which an entry takes 40 bytes or more.
 */
export const MOST_ENTRIES = 26_843_545;

/** Text of at most `max` characters. A required one must not be blank; an optional one only with `blank: false`. */
export function Text({ max = LENGTHS.name, blank, ...options }: Options<{ max?: number; blank?: boolean }> = {}) {
  const mayBeBlank = blank ?? (options.optional || options.nullable || false);
  const check = where((value) => isStorableText(value) && hasAtMost(value, max) && (mayBeBlank || /\S/.test(value)));
  return field(check, text(max, mayBeBlank), options);
}

const isShortText = (value: unknown): value is string => isStorableText(value) && hasAtMost(value, LENGTHS.name);
const isEmailText = (value: unknown): boolean => isShortText(value) && isEmailAddress(value);

export const Email = (options: Options = {}) => field(where(isEmailText), email(LENGTHS.name), options);

export const Flag = (options: Options = {}) =>
  field(
    where((value) => typeof value === 'boolean'),
    { type: 'boolean' },
    options,
  );

/** An integer within int32, by default not negative. */
export function Whole({ min, max, ...options }: Options<{ min?: number; max?: number }> = {}) {
  const schema = whole(min, max);
  const { minimum, maximum } = schema;
  const check = where(
    (value) => Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum,
  );
  return field(check, schema, options);
}

/** The id of an event or a user: an integer up to 2^53 - 1. */
export const WholeId = (options: Options = {}) =>
  field(
    where((value) => Number.isSafeInteger(value) && (value as number) > 0),
    WHOLE_ID,
    options,
  );

/** One of the values of an enumeration, which the API reference shows under its name, with the description. */
export const OneOf = (values: readonly string[], name: string, options: Options = {}): PropertyDecorator =>
  field(
    where((value) => values.includes(value as string)),
    { enum: [...values], enumName: name, enumSchema: { description: options.description } },
    options,
  );

/** A uuid; lower-cased, as PostgreSQL shows it. */
export const Uuid = (options: Options = {}) =>
  field(
    where(isUuid),
    UUID,
    options,
    Converted((value) => (isUuid(value) ? value.toLowerCase() : value)),
  );

/** Not before the day or date-time that stands in another field of the same object. */
type NotBefore = Options<{ notBefore?: string }>;

const notBeforeField =
  (valid: (value: unknown) => value is string, other?: string): Check =>
  (value, holder) => {
    if (!valid(value)) return '';
    const start = other ? holder[other] : undefined;
    return valid(start) && value < start ? '' : undefined;
  };

/** A day, YYYY-MM-DD. */
export const Day = ({ notBefore, ...options }: NotBefore = {}) =>
  field(notBeforeField(isCalendarDay, notBefore), DAY, options);

const isUtc = (value: unknown): value is string => typeof value === 'string' && toUtc(value) === value;

const momentField = (schema: Schema, { notBefore, ...options }: NotBefore): PropertyDecorator =>
  field(
    notBeforeField(isUtc, notBefore),
    schema,
    options,
    Converted((value) => toUtc(value) ?? value),
  );

/** A moment, which validation turns into ISO 8601 in UTC with milliseconds: the API reference shows that form. */
export const DateTime = (options: Options = {}) => momentField(MOMENT, options);

/** The same in a body: the API reference shows the forms in which it is taken. */
export const GivenDateTime = (options: NotBefore = {}) => momentField(GIVEN_MOMENT, options);

/** A moment in UTC, which validation cuts to microseconds: PostgreSQL would round it, out of the year 9999 too. */
export const PreciseDateTime = (options: Options = {}) =>
  field(
    where((value) => typeof value === 'string' && value.endsWith('Z') && toUtc(value) !== undefined),
    MOMENT,
    options,
    Converted((value) => (typeof value === 'string' ? value.replace(/(\.\d{6})\d{1,3}Z$/, '$1Z') : value)),
  );

const TIME = new RegExp(TIME_OF_DAY.pattern);

/** A time of day, HH:MM:SS. */
export const TimeOfDay = (options: Options = {}) =>
  field(
    where((value) => typeof value === 'string' && TIME.test(value)),
    TIME_OF_DAY,
    options,
  );

type ItemOptions = Options<{ max?: number }>;

const each =
  (max: number, check: Check): Check =>
  (value, holder) => {
    if (!Array.isArray(value) || value.length > max) return '';
    for (const [index, item] of value.entries()) {
      const fault = check(item, holder);
      if (fault !== undefined) return `[${index}]${fault}`;
    }
    return undefined;
  };

/** An array of strings of at most 255 characters. Its elements are no fields, so that the array is what is named. */
export const TextList = ({ max = 100, ...options }: ItemOptions = {}) =>
  field(
    where((value) => Array.isArray(value) && value.length <= max && value.every(isShortText)),
    { type: 'array', items: text(LENGTHS.name, true), maxItems: max },
    options,
  );

export const EmailList = ({ max = 1000, ...options }: ItemOptions = {}) =>
  field(each(max, where(isEmailText)), { type: 'array', items: email(LENGTHS.name), maxItems: max }, options);

export const UuidList = ({ max = 1000, ...options }: ItemOptions = {}) =>
  field(
    each(max, where(isUuid)),
    { type: 'array', items: UUID, maxItems: max },
    options,
    Converted((value) =>
      Array.isArray(value) ? value.map((id: unknown) => (isUuid(id) ? id.toLowerCase() : id)) : value,
    ),
  );

const instanceOf =
  (type: () => Class): Check =>
  (value) => {
    if (!(value instanceof type())) return '';
    const fault = firstFault(value);
    return fault === undefined ? undefined : `.${fault}`;
  };

/** An array of objects of one class. */
export const ListOf = (type: () => Class, { max = 1000, ...options }: ItemOptions = {}) =>
  field(each(max, instanceOf(type)), { type: () => type(), isArray: true, maxItems: max }, options, Nested(type));

/** One object of a class. */
export const ObjectOf = (type: () => Class, options: Options = {}) =>
  field(instanceOf(type), { type: () => type() }, options, Nested(type));
