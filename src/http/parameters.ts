import { BadRequestException, Body, Param, PipeTransform } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { Converted } from './reader';
import { digits, isStorableText, isUuid } from './text';

const uuid: PipeTransform<string, string> = {
  transform: (value) => {
    if (!isUuid(value)) throw new BadRequestException();
    return value.toLowerCase();
  },
};

const eventId: PipeTransform<string, number> = {
  transform: (value) => {
    const id = digits(value);
    if (!Number.isSafeInteger(id) || id < 1) throw new BadRequestException();
    return id;
  },
};

/** The id of a resource in the path: a uuid in any letter case, else 400. */
export const UuidParam = (name: string): ParameterDecorator => Param(name, uuid);

/** The id of an event in the path: a positive safe integer in decimal digits, else 400. */
export const EventIdParam = (): ParameterDecorator => Param('eventId', eventId);

/** Marks a handler that reads a JSON body; every other handler's body is never read. */
export const READS_BODY = Symbol('readsBody');

/** The request's body, read and checked. */
export const JsonBody = (): ParameterDecorator => (target, key, index) => {
  Body()(target, key, index);
  if (key) Reflect.defineMetadata(READS_BODY, true, (target as Record<string | symbol, object>)[key] as object);
};

/** A query parameter is a string, an array when it stands twice, and undefined when it is left out. */
const queryParameter = (valid: (value: unknown) => boolean): PropertyDecorator =>
  ValidateBy({ name: 'queryParameter', validator: { validate: (value) => value === undefined || valid(value) } });

export const QueryText =
  (description: string): PropertyDecorator =>
  (target, key) => {
    queryParameter(isStorableText)(target, key);
    ApiProperty({ type: 'string', required: false, description })(target, key);
  };

export const QueryUuid =
  (description: string): PropertyDecorator =>
  (target, key) => {
    queryParameter(isUuid)(target, key);
    ApiProperty({ type: 'string', format: 'uuid', required: false, description })(target, key);
  };

export const QueryOneOf =
  (values: Record<string, string>, name: string, description: string): PropertyDecorator =>
  (target, key) => {
    queryParameter((value) => typeof value === 'string' && Object.values(values).includes(value))(target, key);
    ApiProperty({ enum: values, enumName: name, required: false, description })(target, key);
  };

export const PAGE_SIZE = 20;
export const LARGEST_PAGE_SIZE = 50;
const INT32 = 2_147_483_647;

/** The two parameters of every list. */
export class PageQuery {
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    default: PAGE_SIZE,
    required: false,
    description: `Items a page. Values above ${LARGEST_PAGE_SIZE} are clamped to ${LARGEST_PAGE_SIZE}.`,
  })
  @Converted((value) => Math.min(digits(value), LARGEST_PAGE_SIZE))
  @ValidateBy({ name: 'limit', validator: { validate: (value) => value >= 1 } })
  limit: number = PAGE_SIZE;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: INT32,
    default: 0,
    required: false,
    description: 'Zero-based page index: `limit=25&offset=2` is the third page of 25 items.',
  })
  @Converted(digits)
  @ValidateBy({ name: 'offset', validator: { validate: (value) => value >= 0 && value <= INT32 } })
  offset: number = 0;
}
