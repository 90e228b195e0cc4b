import { Transform, Type } from 'class-transformer';
import { getMetadataStorage, ValidationArguments, ValidatorConstraintInterface } from 'class-validator';

/**
 * Reads parsed JSON into instances of decorated classes, as class-transformer and class-validator would. The libraries
 * gather what they know of a class anew for each object; here that is done once a class, which is what makes checking a
 * million records affordable. What is checked is class-validator's metadata; conversions are kept here, and class-transformer
 * is told of them too, so that test/http/reader.spec.ts can compare.
 */

export type Class<T extends object = object> = new () => T;
type Convert = (value: unknown) => unknown;
type Fields = Record<string | symbol, unknown>;

/** by the prototype that declares the field */
const conversions = new Map<object, Map<string | symbol, Convert>>();

function convert(prototype: object, field: string | symbol, conversion: Convert): void {
  const own = conversions.get(prototype) ?? new Map<string | symbol, Convert>();
  conversions.set(prototype, own.set(field, conversion));
}

/** Changes the value of a field before anything is checked. */
export function Converted(conversion: Convert): PropertyDecorator {
  return (prototype, field) => {
    convert(prototype, field, conversion);
    Transform(({ value }) => conversion(value))(prototype, field);
  };
}

/** A field that holds one object, or an array of objects, of a class. */
export function Nested(type: () => Class): PropertyDecorator {
  const one: Convert = (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? instantiate(type(), value as Fields) : value;
  return (prototype, field) => {
    convert(prototype, field, (value) => (Array.isArray(value) ? value.map(one) : one(value)));
    Type(type)(prototype, field);
  };
}

interface Field {
  name: string;
  conversion: Convert | undefined;
  constraint: ValidatorConstraintInterface;
}

const compiled = new Map<Class, Field[]>();

/** The decorated fields of a class in the order in which class-validator checks them. */
function fieldsOf(type: Class): Field[] {
  const known = compiled.get(type);
  if (known) return known;
  const storage = getMetadataStorage();
  const fields = storage
    .getTargetValidationMetadatas(type, '', false, false)
    .flatMap(({ propertyName: name, constraintCls }) =>
      storage
        .getTargetValidatorConstraints(constraintCls)
        .map(({ instance }) => ({ name, conversion: conversionOf(type, name), constraint: instance })),
    );
  compiled.set(type, fields);
  return fields;
}

function conversionOf(type: Class, field: string): Convert | undefined {
  let prototype = type.prototype as object | null;
  while (prototype) {
    const conversion = conversions.get(prototype)?.get(field);
    if (conversion) return conversion;
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return undefined;
}

/**
 * An instance that has the declared fields of a plain object and no others, converted but not checked yet. What is left
 * out keeps the default of its class.
 */
export function instantiate<T extends object>(type: Class<T>, plain: Fields): T {
  const instance = new type();
  for (const { name, conversion } of fieldsOf(type)) {
    const value = plain[name];
    if (value !== undefined) (instance as Fields)[name] = conversion ? conversion(value) : value;
  }
  return instance;
}

/**
 * Checks an instance against the decorators of its class, in their order.
 * @returns the path of the first fault, or undefined
 */
export function firstFault(instance: object): string | undefined {
  const args = { object: instance, value: undefined, property: '', targetName: '', constraints: [] };
  for (const { name, constraint } of fieldsOf(instance.constructor as Class)) {
    const value = (instance as Fields)[name];
    if (!constraint.validate(value, args)) return `${name}${messageOf(constraint, { ...args, value })}`;
  }
  return undefined;
}

const messageOf = (constraint: ValidatorConstraintInterface, args: ValidationArguments): string =>
  constraint.defaultMessage?.(args) ?? '';
