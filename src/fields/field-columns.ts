import { snakeCase } from '../database/data-source';
import type { Rendering } from '../database/rendering';
import { type Class, schemasOf } from './field-rules';

/**
 * SQL of the fields of a response class: the columns of their names, and dates and times in UTC.
 * @param prefix what precedes the columns, such as `lead.`
 * @param others SQL of the fields that are stored otherwise
 */
export function fieldColumns<T extends object>(
  type: Class<T>,
  prefix = '',
  others: Partial<Rendering<T>> = {},
): Rendering<T> {
  const columns = [...schemasOf(type)].map(([field, { kind }]) => {
    const column = `${prefix}${snakeCase(field)}`;
    return [field, kind === 'date-time' ? `iso_utc(${column})` : column] as const;
  });
  return { ...(Object.fromEntries(columns) as Rendering<T>), ...others };
}
