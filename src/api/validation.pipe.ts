import { type ArgumentMetadata, Injectable, type PipeTransform, type Type, ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { checkedProperties, firstInvalidPath, isObject, toInstance, usesOnlyFieldDecorators } from './field-rules';
import { InvalidField, InvalidRequest } from '../errors/exceptions';

/** Makes an instance of a class of what was sent, or throws. */
type Parser = (sent: object) => unknown;

/**
 * Checks bodies and queries against their classes. What a class does not have is never looked at: class-transformer and
 * class-validator would take half a second for 20,000 unknown fields.
 */
@Injectable()
export class RequestValidationPipe implements PipeTransform {
  private readonly parsers = new WeakMap<object, Parser>();
  /** For a single parameter of a query that is declared a number or a boolean. */
  private readonly primitives = new ValidationPipe({ transform: true });

  /** @throws InvalidField for a body, InvalidRequest for a query */
  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    const { type, metatype } = metadata;
    // Path parameters have pipes of their own: Nest's would read `0x10` as the number 16.
    if ((type !== 'body' && type !== 'query') || !metatype || metatype === Object) return value;
    if (!isObject(value)) return this.primitives.transform(value, metadata);
    const known = this.parsers.get(metatype);
    const parse = known ?? parserFor(metatype as Type<object>, type === 'body' ? bodyError : queryError);
    if (!known) this.parsers.set(metatype, parse);
    return parse(value);
  }
}

/** Creates the error for the first invalid field from its path. */
type ErrorFactory = (path: string) => InvalidRequest;
const bodyError: ErrorFactory = (path) => new InvalidField(path);
const queryError: ErrorFactory = (path) => new InvalidRequest(`query ${path}`);

function parserFor(metatype: Type<object>, createError: ErrorFactory): Parser {
  if (usesOnlyFieldDecorators(metatype)) {
    return (sent) => {
      const instance = toInstance(metatype, sent);
      const path = firstInvalidPath(instance);
      return path === undefined ? instance : rejectAfterPathErrors(createError(path));
    };
  }
  // A class that uses decorators of class-validator itself, as Nest's documentation has it.
  const names = [...checkedProperties(metatype)];
  const pipe = new ValidationPipe({
    transform: true,
    whitelist: true,
    exceptionFactory: ([error]) => createError(error ? pathOf(error) : ''),
  });
  return (sent) => {
    const values = sent as Record<string, unknown>;
    const known = names.filter((name) => Object.hasOwn(values, name)).map((name) => [name, values[name]]);
    return pipe.transform(Object.fromEntries(known), { type: 'body', metatype });
  };
}

/** Nest checks all parameters of a handler at once. By the next tick it has thrown the error of the path, which comes first. */
const rejectAfterPathErrors = (error: Error): Promise<never> =>
  new Promise((_, reject) => process.nextTick(reject, error));

/** The path of an error, such as `phoneNumbers[0].type`. */
function pathOf({ property, constraints, children = [] }: ValidationError): string {
  const inner = constraints?.field ?? (children[0] ? pathOf(children[0]).replace(/^(\d+)/, '[$1]') : '');
  return inner === '' || inner.startsWith('[') || inner.startsWith('.') ? property + inner : `${property}.${inner}`;
}
