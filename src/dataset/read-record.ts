import { faultOf, instanceOf } from '../api-schema/fields';
import type { RecordClass } from './dataset';

/**
 * Reads a parsed value into a record, as the API reads a body.
 * @param isGiven whether a fault counts; of a CSV file that lacks a column, it does not
 * @returns the record, or the path of the first field at fault
 */
export function readRecord<T extends object>(
  type: RecordClass<T>,
  value: object,
  isGiven?: (path: string) => boolean,
): { record: T } | { fault: string } {
  const record = instanceOf(type, value);
  const fault = faultOf(record, isGiven);
  return fault === undefined ? { record } : { fault };
}
