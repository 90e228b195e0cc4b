import { type ArgumentMetadata, Injectable, type PipeTransform, type Type, ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import {
  checkedProperties,
  fieldErrors,
  firstError,
  isObject,
  toInstance,
  usesOnlyFieldDecorators,
} from '../../fields/field-rules';
import { InvalidField, InvalidRequest } from '../../errors/exceptions';
import type { FaultCause } from '../../errors/faults';
import { causeOf, causeOfValidationError } from './fault-reason';

/** Makes an instance of a class of what was sent. It throws what `invalid` creates. */
type Parser = (sent: object, metadata: ArgumentMetadata) => unknown;

/** The error for the first invalid field of a part of the request. */
function invalid({ type, data }: ArgumentMetadata, path: string, { reason, detail }: FaultCause): InvalidRequest {
  // An object may be a property itself: `@Body('address') address: AddressDto`.
  const field = [data, path].filter(Boolean).join('.');
  const fault = `${type === 'param' ? 'path' : type} ${field}`;
  return type === 'body' ? new InvalidField(field, reason, { detail }) : new InvalidRequest(fault, reason, { detail });
}

/** Classes of values that have no fields to check. */
const VALUE_TYPES: unknown[] = [String, Number, Boolean, Array, Object, Date, Map, Set, Buffer, BigInt, Promise];

/**
 * Checks bodies, queries and path parameters against their classes. What a class does not have is never looked at:
 * class-transformer and class-validator would take half a second for 20,000 unknown fields.
 */
@Injectable()
export class RequestValidationPipe implements PipeTransform {
  private readonly parsers = new WeakMap<object, Parser>();

  /** @throws InvalidField for a body, InvalidRequest for a query or a path */
  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    const { type, metatype, data } = metadata;
    // A path parameter has a pipe of its own: Nest's would read `0x10` as the number 16.
    if (!metatype || type === 'custom' || (type === 'param' && data !== undefined)) return value;
    let parse = this.parsers.get(metatype);
    if (!parse) {
      if (VALUE_TYPES.includes(metatype)) return type === 'query' ? asDeclared(value, metatype) : value;
      parse = parserFor(metatype as Type<object>);
      this.parsers.set(metatype, parse);
    }
    const sent = value ?? {};
    if (!isObject(sent)) throw invalid(metadata, '', { reason: 'type' });
    return parse(sent, metadata);
  }
}

/**
 * A single parameter of a query as the number or boolean that it is declared and is written as. Anything else stays as it
 * was sent, because pipes of the parameter follow.
 */
function asDeclared(value: unknown, metatype: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (metatype === Number && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  if (metatype === Boolean && /^(true|false)$/.test(value)) return value === 'true';
  return value;
}

function parserFor(metatype: Type<object>): Parser {
  if (usesOnlyFieldDecorators(metatype)) {
    return (sent, metadata) => {
      const instance = toInstance(metatype, sent);
      const error = firstError(instance);
      if (error === undefined) return instance;
      const isRepeated = metadata.type === 'query' && Array.isArray((sent as Record<string, unknown>)[error.path]);
      const cause: FaultCause = isRepeated ? { reason: 'duplicate' } : causeOf(error);
      return rejectAfterPathErrors(invalid(metadata, error.path, cause));
    };
  }
  // A class that uses decorators of class-validator itself, as Nest's documentation has it.
  const names = [...checkedProperties(metatype)];
  // A class without any decorator says nothing of its fields.
  if (names.length === 0) return (sent) => sent;
  const pipe = new ValidationPipe({
    transform: true,
    whitelist: true,
    validationError: { target: true },
    exceptionFactory: ([error]) => error,
  });
  return async (sent, metadata) => {
    const values = sent as Record<string, unknown>;
    const known = names.filter((name) => Object.hasOwn(values, name)).map((name) => [name, values[name]]);
    try {
      return (await pipe.transform(Object.fromEntries(known), { type: 'body', metatype })) as unknown;
    } catch (thrown) {
      // A ValidationError is no Error: it comes from `exceptionFactory`.
      if (thrown instanceof Error) throw thrown;
      const error = thrown as ValidationError;
      throw invalid(metadata, pathOf(error), causeOfError(error));
    }
  };
}

/** Nest checks all parameters of a handler at once. By the next tick it has thrown the error of the path, which comes first. */
const rejectAfterPathErrors = (error: Error): Promise<never> =>
  new Promise((_, reject) => process.nextTick(reject, error));

/** The cause of an error of class-validator, which a decorator of `fields.ts` may have found. */
function causeOfError(error: ValidationError): FaultCause {
  const found = [...fieldErrors(error.target ?? {})].find(({ path }) => path === pathOf(error));
  return found ? causeOf(found) : causeOfValidationError(error);
}

/** The path of an error, such as `phoneNumbers[0].type`. */
function pathOf({ property, constraints, children = [] }: ValidationError): string {
  const inner = constraints?.field ?? (children[0] ? pathOf(children[0]).replace(/^(\d+)/, '[$1]') : '');
  return inner === '' || inner.startsWith('[') || inner.startsWith('.') ? property + inner : `${property}.${inner}`;
}
