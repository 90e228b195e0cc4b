import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { getMetadataStorage, ValidateBy, type ValidationArguments } from 'class-validator';
import type { InvalidReason } from './invalid-reason';

/**
 * The engine of fields: one decorator declares a field's check (class-validator), its conversion (class-transformer) and
 * its description (OpenAPI), and the functions of this file read them back. The kinds of field are in `fields.ts`.
 */

/** By default, a field is required and not null. */
interface Presence {
  optional?: boolean;
  nullable?: boolean;
}

export type FieldOptions<Own = object> = Presence & Own & { description?: string; example?: unknown };

/** An invalid value within an object or a list. */
export interface InnerError {
  /** Such as `firstName`, or below a field `[1]` or `.name`. */
  path: string;
  value: unknown;
  reason: InvalidReason;
  /** The path of an earlier entry of the list that has the value, too. */
  repeats?: string;
}

/** @returns undefined for a valid value; else the reason, or the error of a value below the field */
export type Check = (value: unknown, parent: Record<string, unknown>) => InvalidReason | InnerError | undefined;

/** Converts a value before it is checked; `parent` is the object as it was sent. */
export type Convert = (value: unknown, parent: object) => unknown;

export type Class<T extends object = object> = new () => T;

/** What a text means. CSV reads its values by it, and messages of an import name it. */
export type TextKind = 'uuid' | 'date' | 'date-time' | 'email' | 'time' | 'text' | 'json';

/** The digits that a decimal number may have before and after the point. */
export interface DecimalDigits {
  integerDigits: number;
  scale: number;
}

/** What a field is, apart from whether it may be absent. */
export interface FieldDefinition {
  /** The kind of the text, or of each text of a list. */
  kind?: TextKind;
  decimal?: DecimalDigits;
  /** What tells the entries of a list apart: the entries themselves, or this field of theirs. */
  distinct?: string | true;
  /** The OpenAPI schema. */
  schema: object;
  check: Check;
  convert?: Convert;
}

/** The schema of a value, as the API reference shows it. */
export interface ValueSchema {
  type?: string | (() => Class);
  isArray?: boolean;
  format?: string;
  pattern?: string;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  items?: ValueSchema;
}

export interface FieldSchema extends ValueSchema {
  kind: TextKind;
  decimal?: DecimalDigits;
  distinct?: string | true;
  required: boolean;
  nullable: boolean;
}

/** The rule of a field. It is stored as class-validator metadata, so that classes derived by `PickType` and the like inherit it. */
interface FieldRule {
  check: Check;
  convert: Convert;
  schema: FieldSchema;
}

/** An invalid field. */
export interface FieldError extends InnerError {
  schema: FieldSchema;
}

const FIELD = 'field';

/** Declares a field. Use the decorators of `fields.ts` where one fits. */
export function field(definition: FieldDefinition, options: FieldOptions): PropertyDecorator {
  const { kind = 'text', decimal, distinct, schema, check, convert } = definition;
  const { optional = false, nullable = false, ...docs } = options;
  const rule: FieldRule = {
    convert: convert ?? ((value) => value),
    schema: { ...schema, kind, decimal, distinct, required: !optional, nullable },
    check: (value, parent) => {
      if (value === undefined) return optional ? undefined : 'missing';
      if (value === null) return nullable ? undefined : 'missing';
      return check(value, parent);
    },
  };
  const errorOf = ({ value, object }: ValidationArguments) => rule.check(value, object as Record<string, unknown>);
  return applyDecorators(
    ValidateBy({
      name: FIELD,
      constraints: [rule],
      validator: {
        validate: (_, args) => errorOf(args as ValidationArguments) === undefined,
        defaultMessage: (args) => pathBelow(errorOf(args as ValidationArguments)),
      },
    }),
    ApiProperty({ ...schema, required: !optional, nullable: nullable || undefined, ...docs } as ApiPropertyOptions),
    ...(convert
      ? [Transform(({ value, obj }) => (isConverted(obj as object) ? value : convert(value, obj as object)))]
      : []),
  );
}

/** Whether the fields of an object are converted: those of an instance, which a ValidationPipe of a module meets, are. */
const isConverted = ({ constructor }: object): boolean =>
  typeof constructor === 'function' && fieldsOf(constructor as Class).rules.length > 0;

/** What the decorators of class-validator say of a class. */
interface ClassFields {
  rules: [name: string, rule: FieldRule][];
  /** By their names, in their order, those of the class that it extends first. */
  schemas: ReadonlyMap<string, FieldSchema>;
  /** The properties that any decorator checks, those of `field` included. */
  properties: Set<string>;
  usesOnlyFieldDecorators: boolean;
}

/** The fields of a class do not change, so they are read once. */
const fieldsByClass = new WeakMap<Class, ClassFields>();

function fieldsOf(type: Class): ClassFields {
  const known = fieldsByClass.get(type);
  if (known) return known;
  const metadata = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const ofField = metadata.filter(({ name }) => name === FIELD);
  const rules = ofField.map(({ propertyName, constraints }): [string, FieldRule] => [
    propertyName,
    (constraints as [FieldRule])[0],
  ]);
  const parent = Object.getPrototypeOf(type) as Class;
  const inherited = parent.prototype === undefined ? [] : schemasOf(parent);
  const fields: ClassFields = {
    rules,
    schemas: new Map([...inherited, ...rules.map(([name, { schema }]) => [name, schema] as const)]),
    properties: new Set(metadata.map(({ propertyName }) => propertyName)),
    usesOnlyFieldDecorators: ofField.length > 0 && ofField.length === metadata.length,
  };
  fieldsByClass.set(type, fields);
  return fields;
}

/** The properties of a class that any decorator of class-validator checks, those of `field` included. */
export const checkedProperties = (type: Class): Set<string> => fieldsOf(type).properties;

/** Whether `field` declares every property of a class. Then `toInstance` and `firstError` cover all of it. */
export const usesOnlyFieldDecorators = (type: Class): boolean => fieldsOf(type).usesOnlyFieldDecorators;

/**
 * An instance of a class with the converted values of its fields in a plain object. Other properties are left out, and
 * decorators other than `field` are ignored.
 */
export function toInstance<T extends object>(type: Class<T>, plain: object): T {
  const instance = new type() as Record<string, unknown>;
  for (const [name, { convert }] of fieldsOf(type).rules) {
    const value = (plain as Record<string, unknown>)[name];
    if (value !== undefined) instance[name] = convert(value, plain);
  }
  return instance as T;
}

/** Objects become instances; any other value stays, and is invalid. */
export const toInstanceIfObject = (value: unknown, type: Class): unknown =>
  isObject(value) ? toInstance(type, value) : value;

/** The path of an error below its field; empty where the field itself is invalid. */
const pathBelow = (error: ReturnType<Check>): string => (typeof error === 'object' ? error.path : '');

/**
 * The first error of an instance, in the order of its class.
 * @param counts whether an error at the path counts
 */
export function firstError(instance: object, counts: (path: string) => boolean = () => true): InnerError | undefined {
  for (const [name, { check }] of fieldsOf(instance.constructor as Class).rules) {
    const parent = instance as Record<string, unknown>;
    const error = check(parent[name], parent);
    if (error !== undefined && counts(name + pathBelow(error))) return errorBelow(name, parent[name], error);
  }
  return undefined;
}

/** The error of a value at a path, or of a value below that. */
export function errorBelow(path: string, value: unknown, error: InvalidReason | InnerError): InnerError {
  if (typeof error === 'string') return { path, value, reason: error };
  const repeats = error.repeats === undefined ? undefined : path + error.repeats;
  return { ...error, path: path + error.path, repeats };
}

/** The errors of all fields of an instance, in the order of its class; objects and lists of them field by field. */
export function* fieldErrors(instance: object, prefix = ''): Generator<FieldError> {
  for (const [name, { check, schema }] of fieldsOf(instance.constructor as Class).rules) {
    const value = (instance as Record<string, unknown>)[name];
    const error = check(value, instance as Record<string, unknown>);
    if (error === undefined) continue;
    const path = prefix + name;
    const nested = pathBelow(error) !== '' && classOf(schema) ? [...nestedErrors(value, path, schema)] : [];
    yield* nested.length > 0 ? nested : [{ ...errorBelow(path, value, error), schema }];
  }
}

function* nestedErrors(value: unknown, path: string, schema: FieldSchema): Generator<FieldError> {
  if (isObject(value)) yield* fieldErrors(value, `${path}.`);
  for (const [index, entry] of Array.isArray(value) ? value.entries() : []) {
    const entryPath = `${path}[${index}]`;
    if (isObject(entry)) yield* fieldErrors(entry, `${entryPath}.`);
    else yield { ...errorBelow(entryPath, entry, noObjectReason(entry)), schema: { ...schema, isArray: false } };
  }
}

/** Why a value is invalid that is no object. */
export const noObjectReason = (value: unknown): InvalidReason =>
  value === undefined || value === null ? 'missing' : 'type';

/** The schemas of the fields of a class by their names, in their order, those of the class that it extends first. */
export const schemasOf = (type: Class): ReadonlyMap<string, FieldSchema> => fieldsOf(type).schemas;

/** The class of the objects that a field holds. */
export const classOf = ({ type }: Pick<ValueSchema, 'type'>): Class | undefined =>
  typeof type === 'function' ? type() : undefined;

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
