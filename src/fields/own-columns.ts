import type { Type } from '@nestjs/common';
import { snakeCase } from '../data/database/data-source';
import type { Rendering } from '../data/database/rendering';
import { schemasOf } from './field-rules';

/**
 * SQL of each field of a response class, where it is the column of the same name. What is not stored so replaces it.
 * @param prefix of the columns, such as the alias of the row with a point
 */
export const ownColumns = <T extends object>(type: Type<T>, prefix = ''): Rendering<T> =>
  Object.fromEntries([...schemasOf(type).keys()].map((field) => [field, prefix + snakeCase(field)])) as Rendering<T>;
