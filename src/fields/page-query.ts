import { MAX_PAGE_SIZE } from '../data/database/limits';
import { isWithin } from './checks';
import { type Check, field } from './field-rules';
import { invalidTextReason } from './invalid-reason';
import { int32 } from './value-schemas';
import { parseDecimal } from './text';

export const DEFAULT_PAGE_SIZE = 20;

const OFFSET = int32();

/** Digits as a number of at most `max`. Anything else stays as it was sent, and is invalid. */
export function toInteger(value: unknown, max = Infinity): unknown {
  const integer = Math.min(parseDecimal(value), max);
  return Number.isNaN(integer) ? value : integer;
}

/** The check of an integer that `toInteger` has made of a text. */
export const sentIntegerCheck =
  ({ minimum, maximum = Infinity }: { minimum: number; maximum?: number }): Check =>
  (value) => {
    if (typeof value === 'number') return isWithin(value, { minimum, maximum }) ? undefined : 'range';
    return typeof value === 'string' && /^-\d+$/.test(value) ? 'range' : invalidTextReason(value);
  };

/** A query parameter with the size of a page: any number of digits is accepted, so there is no format and no maximum. */
export const PageSize = (size: number, max: number, description: string): PropertyDecorator =>
  field(
    {
      schema: { type: 'integer', minimum: 1, default: size },
      check: sentIntegerCheck({ minimum: 1 }),
      convert: (value) => toInteger(value, max),
    },
    { optional: true, description: `${description} Values above ${max} count as ${max}.` },
  );

/** The query parameters of every list; the query of a list extends it. A parameter that is sent twice is an array here. */
export class PageQuery {
  /** The number of items per page. */
  @PageSize(DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, 'Page size.')
  limit: number = DEFAULT_PAGE_SIZE;

  /** The zero-based index of the page, not of its first item: a repository needs `skip: limit * offset`. */
  @field(
    {
      schema: { ...OFFSET, default: 0 },
      check: sentIntegerCheck(OFFSET),
      convert: (value) => toInteger(value),
    },
    {
      optional: true,
      description: 'Zero-based page index, not a number of items: `limit=25&offset=2` is the third page of 25 items.',
    },
  )
  offset: number = 0;
}
