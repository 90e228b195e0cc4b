import { type ArgumentMetadata, Injectable, type PipeTransform, type Type, ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { checkedProperties, faultOf, instanceOf, isObject, isOfFields } from '../api-schema/fields';
import { InvalidField, InvalidRequest } from './errors';

/** Makes an instance of a class of what was sent, or throws. */
type Reader = (sent: object) => unknown;

/**
 * Checks bodies and queries against their classes. What a class does not have is never looked at: class-transformer and
 * class-validator would take half a second for 20,000 unknown fields.
 */
@Injectable()
export class RequestValidationPipe implements PipeTransform {
  private readonly readers = new WeakMap<object, Reader>();
  /** For a single parameter of a query that is declared a number or a boolean. */
  private readonly primitives = new ValidationPipe({ transform: true });

  /** @throws InvalidField for a body, InvalidRequest for a query */
  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    const { type, metatype } = metadata;
    // Path parameters have pipes of their own: Nest's would read `0x10` as the number 16.
    if ((type !== 'body' && type !== 'query') || !metatype || metatype === Object) return value;
    if (!isObject(value)) return this.primitives.transform(value, metadata);
    const known = this.readers.get(metatype);
    const reader = known ?? readerOf(metatype as Type<object>, type === 'body' ? inBody : inQuery);
    if (!known) this.readers.set(metatype, reader);
    return reader(value);
  }
}

/** The error for the first invalid field, by the path of that. */
type Fault = (path: string) => InvalidRequest;
const inBody: Fault = (path) => new InvalidField(path);
const inQuery: Fault = (path) => new InvalidRequest(`query ${path}`);

function readerOf(metatype: Type<object>, faultAt: Fault): Reader {
  if (isOfFields(metatype)) {
    return (sent) => {
      const instance = instanceOf(metatype, sent);
      const path = faultOf(instance);
      return path === undefined ? instance : refusedLast(faultAt(path));
    };
  }
  // A class that uses decorators of class-validator itself, as Nest's documentation has it.
  const names = [...checkedProperties(metatype)];
  const pipe = new ValidationPipe({
    transform: true,
    whitelist: true,
    exceptionFactory: ([fault]) => faultAt(fault ? pathOf(fault) : ''),
  });
  return (sent) => {
    const given = sent as Record<string, unknown>;
    const known = names.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]);
    return pipe.transform(Object.fromEntries(known), { type: 'body', metatype });
  };
}

/** Nest checks all parameters of a handler at once: by the next tick it has thrown what the path is refused for. */
const refusedLast = (fault: Error): Promise<never> => new Promise((_, reject) => process.nextTick(reject, fault));

/** The path of a fault, such as `phoneNumbers[0].type`. */
function pathOf({ property, constraints, children = [] }: ValidationError): string {
  const inner = constraints?.field ?? (children[0] ? pathOf(children[0]).replace(/^(\d+)/, '[$1]') : '');
  return inner === '' || inner.startsWith('[') || inner.startsWith('.') ? property + inner : `${property}.${inner}`;
}
