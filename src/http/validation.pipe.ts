import { type ArgumentMetadata, BadRequestException, Injectable, type Type, ValidationPipe } from '@nestjs/common';
import * as classTransformer from 'class-transformer';
import type { ValidationError } from 'class-validator';
import { isObject, withNested } from '../api-schema/fields';
import { PageQuery } from '../api-schema/parameters';
import { InvalidField } from './errors';

/** Checks bodies and queries against their classes, and drops fields that the class does not have. */
@Injectable()
export class RequestValidationPipe extends ValidationPipe {
  constructor() {
    super({
      transform: true,
      whitelist: true,
      transformerPackage: { ...classTransformer, plainToInstance },
      validationError: { target: true, value: true },
      exceptionFactory: ([fault]) =>
        fault && !(fault.target instanceof PageQuery)
          ? new InvalidField(invalidPath(fault))
          : new BadRequestException(),
    });
  }

  /** Path parameters have pipes of their own: Nest's would read `0x10` as the number 16. */
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    return metadata.type === 'param' ? value : ((await super.transform(value, metadata)) as unknown);
  }
}

const plainToInstance = <T>(type: Type<T>, plain: unknown): T | T[] =>
  isObject(plain) ? (withNested(type as Type<object>, plain) as T) : classTransformer.plainToInstance(type, plain as T);

/** The path of a fault, such as `phoneNumbers[0].type`. */
const invalidPath = ({ property, constraints }: ValidationError): string => property + (constraints?.field ?? '');
