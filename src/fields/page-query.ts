import { MAX_PAGE_SIZE } from '../database/limits';
import { field } from './field-rules';
import { int32 } from './schemas';
import { parseDecimal } from './text';

export const DEFAULT_PAGE_SIZE = 20;

const OFFSET = int32();

/** The query parameters of every list; the query of a list extends it. A parameter that is sent twice is an array here. */
export class PageQuery {
  /** The number of items per page. */
  @field(
    {
      // Any number of digits is accepted, so there is no format and no maximum.
      schema: { type: 'integer', minimum: 1, default: DEFAULT_PAGE_SIZE },
      check: (value) => (value as number) >= 1,
      convert: (value) => Math.min(parseDecimal(value), MAX_PAGE_SIZE),
    },
    { optional: true, description: `Page size. Values above ${MAX_PAGE_SIZE} count as ${MAX_PAGE_SIZE}.` },
  )
  limit: number = DEFAULT_PAGE_SIZE;

  /** The zero-based index of the page, not of its first item: a repository needs `skip: limit * offset`. */
  @field(
    {
      schema: { ...OFFSET, default: 0 },
      check: (value) => (value as number) <= OFFSET.maximum,
      convert: parseDecimal,
    },
    {
      optional: true,
      description: 'Zero-based page index, not a number of items: `limit=25&offset=2` is the third page of 25 items.',
    },
  )
  offset: number = 0;
}
