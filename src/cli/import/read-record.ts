import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { invalidPath } from '../../http/validation.pipe';

export type RecordClass<T extends object = object> = new () => T;

/**
 * Reads a parsed value into a record, as the API reads a body.
 * @returns the record, or the path of the first field at fault
 */
export function readRecord<T extends object>(type: RecordClass<T>, value: object): { record: T } | { fault: string } {
  const record = plainToInstance(type, value);
  const [fault] = validateSync(record, { whitelist: true });
  return fault ? { fault: invalidPath(fault) } : { record };
}
