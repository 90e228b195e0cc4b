import { ArgumentMetadata, BadRequestException, Injectable, PipeTransform } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { InvalidField } from './errors';
import { firstFault } from './fields';

type Class = new () => object;

/**
 * Checks bodies and query parameters against their classes. A fault in the body is named; one in the query is a bare
 * 400, as the specification has it.
 */
@Injectable()
export class ValidationPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if ((type !== 'body' && type !== 'query') || !metatype || metatype === Object) return value;
    const instance = plainToInstance(metatype as Class, value ?? {});
    const fault = firstFault(instance);
    if (fault === undefined) return instance;
    throw type === 'body' ? new InvalidField(fault) : new BadRequestException();
  }
}
