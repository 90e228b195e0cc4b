import { type ArgumentMetadata, BadRequestException, Injectable, ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { PageQuery } from '../api-schema/parameters';
import { InvalidField } from './errors';

/** Checks bodies and queries against their classes, and drops fields that the class does not have. */
@Injectable()
export class RequestValidationPipe extends ValidationPipe {
  constructor() {
    super({
      transform: true,
      whitelist: true,
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

/** The path of the first fault, such as `phoneNumbers[0].type`. */
export function invalidPath({ property, value, constraints, children = [] }: ValidationError): string {
  const [child] = children;
  if (constraints || !child) return property + (constraints?.field ?? '');
  const path = invalidPath(child);
  if (!Array.isArray(value)) return `${property}.${path}`;
  return `${property}[${child.property}]${path.slice(child.property.length)}`;
}
