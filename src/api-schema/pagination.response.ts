import { ApiSchema } from '@nestjs/swagger';
import { Int32 } from './fields';
import { MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE } from './parameters';

@ApiSchema({ description: 'Position of the page in the list.' })
export class Pagination {
  @Int32({
    min: 1,
    max: MAX_PAGE_SIZE,
    example: DEFAULT_PAGE_SIZE,
    description: 'Effective page size, after clamping.',
  })
  limit: number;
  @Int32({ description: 'Zero-based index of this page.' })
  offset: number;
}
