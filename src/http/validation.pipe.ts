import { ArgumentMetadata, BadRequestException, Injectable, PipeTransform } from '@nestjs/common';
import { InvalidField } from './errors';
import { Class, firstFault, instantiate } from './reader';

/**
 * Checks bodies and query parameters against their classes. A fault in the body is named; one in the query is a bare
 * 400, as the specification has it.
 */
@Injectable()
export class ValidationPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if ((type !== 'body' && type !== 'query') || !metatype || metatype === Object) return value;
    const instance = instantiate(metatype as Class, (value ?? {}) as Record<string, unknown>);
    const fault = firstFault(instance);
    if (fault === undefined) return instance;
    if (type === 'query') throw new BadRequestException();
    // Nest checks the path at the same time, and what is wrong there is to be told first.
    return new Promise((_, refuse) => setImmediate(refuse, new InvalidField(fault)));
  }
}
