import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { getMetadataStorage, ValidateBy, type ValidationArguments } from 'class-validator';
import { DATE_TIME, DATE_TIME_INPUT, DAY, email, NUMERIC_ID, int32, text, TIME_OF_DAY, UUID } from './schemas';
import { hasAtMost, isCalendarDay, isStorableText, isUuid, isVisibleEmail, toUtc } from './text';

/**
 * The kinds of field that bodies, queries, dataset records and responses are made of. One decorator gives both the check
 * (class-validator) and the description (OpenAPI).
 *
 * Examples of bodies and responses are built from those of their fields: a nullable field without one is null there, and
 * an optional field without one is left out.
 */

/** Without either, a field is required and not null. */
interface Presence {
  optional?: boolean;
  nullable?: boolean;
}
export const optional = { optional: true } as const;
export const nullable = { nullable: true } as const;
export const optionalNullable = { ...optional, ...nullable } as const;

type Options<Own = object> = Presence & Own & { description?: string; example?: unknown };

/** @returns whether the value is valid, or the path of the fault below the field, such as `[1]` */
type Check = (value: unknown, holder: Record<string, unknown>) => boolean | string;

/** Converts a value that is given, before it is checked; `holder` is what was sent. */
type Convert = (value: unknown, holder: object) => unknown;

type Class<T extends object = object> = new () => T;

/** What class-validator keeps of a field, also for classes made of others by `PickType` and the like. */
interface Rule {
  check: Check;
  convert: Convert;
  schema: FieldSchema;
}

/** What a field holds, as the API reference says it. */
export interface FieldSchema {
  type?: string | (() => Class);
  isArray?: boolean;
  required: boolean;
  nullable: boolean;
  format?: string;
  pattern?: string;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  items?: Omit<FieldSchema, 'required' | 'nullable'>;
}

/** A field that does not hold what it must. */
export interface FieldFault {
  path: string;
  value: unknown;
  schema: FieldSchema;
  /** whether the value is good, but another entry of the list has it */
  isRepeated: boolean;
}

const FIELD = 'field';

/** A field of any other kind. */
export function field(check: Check, schema: object, options: Options, convert?: Convert): PropertyDecorator {
  const { optional = false, nullable = false, ...docs } = options;
  const rule: Rule = {
    convert: convert ?? ((value) => value),
    schema: { ...schema, required: !optional, nullable },
    check: (value, holder) => {
      if (value === undefined) return optional;
      if (value === null) return nullable;
      return check(value, holder);
    },
  };
  const resultOf = ({ value, object }: ValidationArguments) => rule.check(value, object as Record<string, unknown>);
  return applyDecorators(
    ValidateBy({
      name: FIELD,
      constraints: [rule],
      validator: {
        validate: (_, args) => resultOf(args as ValidationArguments) === true,
        defaultMessage: (args) => String(resultOf(args as ValidationArguments) || ''),
      },
    }),
    ApiProperty({ ...schema, required: !optional, nullable: nullable || undefined, ...docs } as ApiPropertyOptions),
    ...(convert ? [Transform(({ value, obj }) => convert(value, obj as object))] : []),
  );
}

type Rules = [name: string, rule: Rule][];

/** Read once: the fields of a class do not change. */
const rules = new WeakMap<Class, Rules>();

const metadataOf = (type: Class) => getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);

function rulesOf(type: Class): Rules {
  const known = rules.get(type);
  if (known) return known;
  const found = metadataOf(type)
    .filter(({ name }) => name === FIELD)
    .map(({ propertyName, constraints }): Rules[0] => [propertyName, (constraints as [Rule])[0]]);
  rules.set(type, found);
  return found;
}

const properties = new WeakMap<Class, Set<string>>();

/** Names of the properties of a class that decorators of class-validator check, those of this file and all others. */
export function checkedProperties(type: Class): Set<string> {
  const known = properties.get(type) ?? new Set(metadataOf(type).map(({ propertyName }) => propertyName));
  properties.set(type, known);
  return known;
}

/** Whether an object without any field is valid. */
export const isAllOptional = (type: Class): boolean => faultOf(instanceOf(type, {})) === undefined;

/** Whether this file declares every field of a class: then `instanceOf` and `faultOf` say all of it. */
export const isOfFields = (type: Class): boolean =>
  rulesOf(type).length > 0 && metadataOf(type).every(({ name }) => name === FIELD);

/**
 * An instance of a class with what a plain object has of its fields, converted. Other fields are left out, and decorators
 * that are not of this file are not looked at.
 */
export function instanceOf<T extends object>(type: Class<T>, plain: object): T {
  const instance = new type() as Record<string, unknown>;
  for (const [name, { convert }] of rulesOf(type)) {
    const value = (plain as Record<string, unknown>)[name];
    if (value !== undefined) instance[name] = convert(value, plain);
  }
  return instance as T;
}

/**
 * The path of the first field at fault of an instance, in the order of its class.
 * @param counts whether a fault counts
 */
export function faultOf(instance: object, counts: (path: string) => boolean = () => true): string | undefined {
  for (const [name, { check }] of rulesOf(instance.constructor as Class)) {
    const holder = instance as Record<string, unknown>;
    const result = check(holder[name], holder);
    if (result === true) continue;
    const path = name + (result || '');
    if (counts(path)) return path;
  }
  return undefined;
}

/** All fields at fault of an instance, in the order of its class; objects and lists of them field by field. */
export function* faultsOf(instance: object, before = ''): Generator<FieldFault> {
  for (const [name, { check, schema }] of rulesOf(instance.constructor as Class)) {
    const value = (instance as Record<string, unknown>)[name];
    const result = check(value, instance as Record<string, unknown>);
    if (result === true) continue;
    const path = before + name;
    const inner = classOf(schema) ? [...faultsWithin(value, path, schema)] : [];
    yield* inner.length > 0 ? inner : [ofEntry(value, path, result || '', schema)];
  }
}

/** @param place of an entry in a list, or of a field of it: `[1]`, `[1].id` */
function ofEntry(value: unknown, path: string, place: string, schema: FieldSchema): FieldFault {
  const [, nth, key] = /^\[(\d+)\](?:\.(.+))?$/.exec(place) ?? [];
  if (nth === undefined) return { path, value, schema, isRepeated: false };
  const entries = value as unknown[];
  const entry = entries[Number(nth)];
  const isRepeated = key !== undefined || entries.indexOf(entry) < Number(nth);
  return { path: path + place, value: key ? (entry as Record<string, unknown>)[key] : entry, schema, isRepeated };
}

function* faultsWithin(value: unknown, path: string, schema: FieldSchema): Generator<FieldFault> {
  if (isObject(value)) yield* faultsOf(value, `${path}.`);
  for (const [nth, entry] of Array.isArray(value) ? value.entries() : []) {
    if (isObject(entry)) yield* faultsOf(entry, `${path}[${nth}].`);
    else yield { path: `${path}[${nth}]`, value: entry, schema: { ...schema, isArray: false }, isRepeated: false };
  }
}

/** Maximum characters of a string, by what it holds. */
export const MAX_LENGTH = { name: 255, url: 2048, prose: 65_535 } as const;

/** Maximum entries of a list that has no other limit: PostgreSQL renders at most 1 GiB, and an entry has 40 bytes or more. */
export const MAX_ENTRIES = 26_843_545;

/** Text of at most `max` characters. A required one must not be blank; an optional one only with `blank: false`. */
export function Text({ max = MAX_LENGTH.name, blank, ...options }: Options<{ max?: number; blank?: boolean }> = {}) {
  const mayBeBlank = blank ?? (options.optional || options.nullable || false);
  const check: Check = (value) => isStorableText(value) && hasAtMost(value, max) && (mayBeBlank || /\S/.test(value));
  return field(check, text(max, mayBeBlank), options);
}

const isShortText = (value: unknown): value is string => isStorableText(value) && hasAtMost(value, MAX_LENGTH.name);
const isEmailText = (value: unknown): boolean => isShortText(value) && isVisibleEmail(value);

export const Email = (options: Options = {}) => field(isEmailText, email(MAX_LENGTH.name), options);

export const BooleanField = (options: Options = {}) =>
  field((value) => typeof value === 'boolean', { type: 'boolean' }, options);

/** An integer within int32, not negative unless `min` says so. */
export function Int32({ min, max, ...options }: Options<{ min?: number; max?: number }> = {}) {
  const schema = int32(min, max);
  const isInRange = (value: number): boolean => value >= schema.minimum && value <= schema.maximum;
  return field((value) => Number.isInteger(value) && isInRange(value as number), schema, options);
}

/** The id of an event or a user: an integer from 1 to 2^53 - 1. */
export const NumericId = (options: Options = {}) =>
  field((value) => Number.isSafeInteger(value) && (value as number) > 0, NUMERIC_ID, options);

/** One of the values of an enumeration, which the API reference lists under its name. */
export const OneOf = (values: readonly string[], name: string, options: Options = {}): PropertyDecorator =>
  field(
    (value) => values.includes(value as string),
    { enum: [...values], enumName: name, enumSchema: { description: options.description } },
    options,
  );

const lowerCased = (value: unknown): unknown => (isUuid(value) ? value.toLowerCase() : value);

/** A uuid, converted to lower case as PostgreSQL shows it. */
export const Uuid = (options: Options = {}) => field(isUuid, UUID, options, lowerCased);

/** Not before the day or date-time in another field of the same object. */
type NotBefore = Options<{ notBefore?: string }>;

const dateCheck =
  (valid: (value: unknown) => value is string, start?: string): Check =>
  (value, holder) => {
    const earliest = start ? holder[start] : undefined;
    return valid(value) && !(valid(earliest) && value < earliest);
  };

/** A day, YYYY-MM-DD. */
export const Day = ({ notBefore, ...options }: NotBefore = {}) =>
  field(dateCheck(isCalendarDay, notBefore), DAY, options);

const isUtc = (value: unknown): value is string => typeof value === 'string' && toUtc(value) === value;

const dateTimeField = (schema: object, { notBefore, ...options }: NotBefore): PropertyDecorator =>
  field(dateCheck(isUtc, notBefore), schema, options, (value) => toUtc(value) ?? value);

/** A date-time, converted to ISO 8601 in UTC with milliseconds; the API reference shows that form. */
export const DateTime = (options: Options = {}) => dateTimeField(DATE_TIME, options);

/** The same in a body; the API reference shows every form that is accepted. */
export const DateTimeInput = (options: NotBefore = {}) => dateTimeField(DATE_TIME_INPUT, options);

/** A date-time in UTC, cut to microseconds: PostgreSQL would round it, even out of the year 9999. */
export const PreciseDateTime = (options: Options = {}) =>
  field(
    (value) => typeof value === 'string' && value.endsWith('Z') && toUtc(value) !== undefined,
    DATE_TIME,
    options,
    (value) => (typeof value === 'string' ? value.replace(/(\.\d{6})\d{1,3}Z$/, '$1Z') : value),
  );

const TIME = new RegExp(TIME_OF_DAY.pattern);

/** A time of day, HH:MM:SS. */
export const TimeOfDay = (options: Options = {}) =>
  field((value) => typeof value === 'string' && TIME.test(value), TIME_OF_DAY, options);

/** Entries differ: as texts, or in a field. The second of two alike is at fault. */
type Distinct = { distinct?: string | true };
type ListOptions = Options<{ min?: number; max?: number } & Distinct>;

const isList = (value: unknown, max: number): value is unknown[] => Array.isArray(value) && value.length <= max;

/** Names the first entry at fault by its index. */
const eachIs =
  (max: number, valid: (value: unknown) => boolean, distinct?: Distinct['distinct']): Check =>
  (value) => {
    if (!isList(value, max)) return false;
    const fault = value.findIndex((entry) => !valid(entry));
    return fault < 0 ? isDistinct(value, distinct) : `[${fault}]`;
  };

function isDistinct(entries: unknown[], distinct: Distinct['distinct']): true | string {
  if (!distinct || entries.length < 2) return true;
  const keys =
    distinct === true ? entries : entries.map((entry) => (entry as Record<string, unknown> | null)?.[distinct]);
  // What is no entry at all is another check's fault.
  if (keys.includes(undefined) || new Set(keys).size === keys.length) return true;
  const seen = new Set();
  const second = keys.findIndex((key) => seen.size === seen.add(key).size);
  return distinct === true ? `[${second}]` : `[${second}].${distinct}`;
}

/** An array of strings of at most 255 characters. A fault in an entry names the array: entries are not fields. */
export const TextList = ({ max = 100, ...options }: ListOptions = {}) =>
  field(
    (value) => isList(value, max) && value.every(isShortText),
    { type: 'array', items: text(MAX_LENGTH.name, true), maxItems: max },
    options,
  );

export const EmailList = ({ max = 1000, distinct, ...options }: ListOptions = {}) =>
  field(eachIs(max, isEmailText, distinct), { type: 'array', items: email(MAX_LENGTH.name), maxItems: max }, options);

export const UuidList = ({ max = 1000, distinct, ...options }: ListOptions = {}) =>
  field(eachIs(max, isUuid, distinct), { type: 'array', items: UUID, maxItems: max }, options, (value) =>
    Array.isArray(value) ? value.map(lowerCased) : value,
  );

/** The names of a class's fields, in their order. */
export const fieldsOf = (type: Class): string[] => rulesOf(type).map(([name]) => name);

/** The fields of a class with what they hold, in their order, those of the class that it extends first. */
export function schemasOf(type: Class): Map<string, FieldSchema> {
  const parent = Object.getPrototypeOf(type) as Class;
  const inherited = parent.prototype === undefined ? [] : schemasOf(parent);
  return new Map([...inherited, ...rulesOf(type).map(([name, { schema }]): [string, FieldSchema] => [name, schema])]);
}

/** The class of the objects that a field holds. */
export const classOf = ({ type }: Pick<FieldSchema, 'type'>): Class | undefined =>
  typeof type === 'function' ? type() : undefined;

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Objects become instances; what is none stays, and is at fault. */
const made = (value: unknown, type: Class): unknown => (isObject(value) ? instanceOf(type, value) : value);

/** An array of objects of one class, whose fields this file declares; which one may depend on the object that holds the array. */
export const ListOf = (
  type: (holder?: object) => Class,
  { min = 0, max = 1000, distinct, ...options }: ListOptions = {},
) =>
  field(
    (value) => {
      if (!isList(value, max) || value.length < min) return false;
      const result = isDistinct(value, distinct);
      if (result !== true) return result;
      for (const [index, entry] of value.entries()) {
        const fault = isObject(entry) ? faultOf(entry) : '';
        if (fault !== undefined) return `[${index}]${fault && `.${fault}`}`;
      }
      return true;
    },
    { type: () => type(), isArray: true, ...(min > 0 && { minItems: min }), maxItems: max },
    options,
    (value, holder) => {
      if (!Array.isArray(value)) return value;
      const entryType = type(holder);
      return value.map((entry) => made(entry, entryType));
    },
  );

/** One object of a class, whose fields this file declares. */
export const ObjectOf = (type: () => Class, options: Options = {}) =>
  field(
    (value) => {
      const fault = isObject(value) ? faultOf(value) : '';
      return fault === undefined || (fault && `.${fault}`);
    },
    { type: () => type() },
    options,
    (value) => made(value, type()),
  );
