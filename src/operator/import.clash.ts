import { QueryFailedError } from 'typeorm';
import { ImportFault, Placed } from './import-fault';

interface Identified {
  id?: string;
  tagOptions?: { id: string }[];
}

/**
 * Imports of two organizations do not take turns: an id that nobody had when it was looked for may be the other's when
 * it is written. PostgreSQL waits for the other one then, and refuses the id by the primary key.
 * @returns the fault, with its place in the batch; any other error as it is
 */
export function clash(error: unknown, batch: Placed<Identified>[]): unknown {
  const { code, detail } = (error instanceof QueryFailedError ? error.driverError : {}) as Record<string, unknown>;
  const [, taken] = (code === '23505' && /\(id\)=\((.+?)\)/.exec(String(detail))) || [];
  if (taken === undefined) return error;
  for (const { place, record } of batch) {
    const option = record.tagOptions?.findIndex(({ id }) => id === taken) ?? -1;
    const path = option < 0 ? 'id' : `tagOptions[${option}].id`;
    if (option >= 0 || record.id === taken) return new ImportFault(`${place}.${path}: belongs to another organization`);
  }
  return error;
}
