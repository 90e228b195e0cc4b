import { BadRequestException, Body, Param, PipeTransform } from '@nestjs/common';
import { ApiParam, ApiParamOptions, ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { OneOf, Text, Uuid } from './fields';
import { Converted } from './reader';
import { EXAMPLE_IDS, UUID, whole, WHOLE_ID } from './schemas';
import { digits, isUuid } from './text';

const uuid: PipeTransform<string, string> = {
  transform: (value) => {
    if (!isUuid(value)) throw new BadRequestException();
    return value.toLowerCase();
  },
};

const wholeId: PipeTransform<string, number> = {
  transform: (value) => {
    const id = digits(value);
    if (!Number.isSafeInteger(id) || id < 1) throw new BadRequestException();
    return id;
  },
};

/** Examples of ids by the names of their parameters. */
const EXAMPLES = new Map<string, unknown>(Object.entries(EXAMPLE_IDS).map(([record, id]) => [`${record}Id`, id]));

/** A parameter in the path, as it is checked and as the API reference shows it. */
const pathParam =
  (name: string, pipe: PipeTransform, shape: typeof UUID | typeof WHOLE_ID): ParameterDecorator =>
  (target, key, index) => {
    Param(name, pipe)(target, key, index);
    const record = name.replace(/Id$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    const schema = { ...shape, example: EXAMPLES.get(name) ?? shape.example };
    const options = { name, schema, description: `The id of the ${record}.` };
    const handler = key && Object.getOwnPropertyDescriptor(target, key);
    if (handler) ApiParam(options as ApiParamOptions)(target, key, handler);
  };

/** The id of a resource in the path: a uuid in any letter case, else 400. */
export const UuidParam = (name: string): ParameterDecorator => pathParam(name, uuid, UUID);

/** The id of a resource with numbers in the path: a positive safe integer in decimal digits, else 400. */
export const WholeIdParam = (name: string): ParameterDecorator => pathParam(name, wholeId, WHOLE_ID);

/** Marks a handler that reads a JSON body; of every other write it must come whole, and nobody looks at it. */
export const READS_BODY = Symbol('readsBody');

/** The request's body, read and checked. */
export const JsonBody = (): ParameterDecorator => (target, key, index) => {
  Body()(target, key, index);
  if (key) Reflect.defineMetadata(READS_BODY, true, (target as Record<string | symbol, object>)[key] as object);
};

/** bytes; longer ones are 431. There must be room for an eventUrl of 2,048 characters, which may be 24,576 bytes here. */
export const LONGEST_HEAD = 32_768;

// A query parameter is a string, an array when it stands twice, and undefined when it is left out. None that may be left
// out has an example: pages that try a request out would send it.
const omissible = { optional: true, example: undefined };

export const QueryText = (description: string, options: { ignoredBeside?: string } = {}) =>
  Text({ ...omissible, ...options, max: LONGEST_HEAD, description });

export const QueryUuid = (description: string) => Uuid({ ...omissible, description });

export const QueryOneOf = (values: readonly string[], name: string, description: string) =>
  OneOf(values, name, { ...omissible, description });

export const PAGE_SIZE = 20;
export const LARGEST_PAGE_SIZE = 50;

const OFFSET = whole();

/** The two parameters of every list. */
export class PageQuery {
  @ApiProperty({
    // Without the format and the maximum that an integer has elsewhere: any number of digits is taken.
    type: 'integer',
    minimum: 1,
    default: PAGE_SIZE,
    required: false,
    description: `Items a page. A value above ${LARGEST_PAGE_SIZE}, however large, counts as ${LARGEST_PAGE_SIZE}.`,
  })
  @Converted((value) => Math.min(digits(value), LARGEST_PAGE_SIZE))
  @ValidateBy({ name: 'limit', validator: { validate: (value) => value >= 1 } })
  limit: number = PAGE_SIZE;

  @ApiProperty({
    ...OFFSET,
    default: 0,
    required: false,
    description: 'Zero-based page index, not a number of items: `limit=25&offset=2` is the third page of 25 items.',
  })
  @Converted(digits)
  @ValidateBy({
    name: 'offset',
    validator: { validate: (value) => value >= OFFSET.minimum && value <= OFFSET.maximum },
  })
  offset: number = 0;
}
