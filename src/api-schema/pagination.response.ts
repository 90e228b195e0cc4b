import { ApiSchema } from '@nestjs/swagger';
import { Int32 } from './fields';
import { MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE } from './parameters';

@ApiSchema({ description: 'Which part of a list an answer holds.' })
export class Pagination {
  @Int32({
    min: 1,
    max: MAX_PAGE_SIZE,
    example: DEFAULT_PAGE_SIZE,
    description: 'The page size in force, after clamping.',
  })
  limit: number;
  @Int32({ description: 'The zero-based index of this page.' })
  offset: number;
}
