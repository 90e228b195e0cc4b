import { ApiSchema } from '@nestjs/swagger';
import { Whole } from './fields';
import { LARGEST_PAGE_SIZE, PAGE_SIZE } from './parameters';

@ApiSchema({ description: 'Which part of a list an answer holds.' })
export class Pagination {
  @Whole({ min: 1, max: LARGEST_PAGE_SIZE, example: PAGE_SIZE, description: 'The page size in force, after clamping.' })
  limit: number;
  @Whole({ description: 'The zero-based index of this page.' })
  offset: number;
}
