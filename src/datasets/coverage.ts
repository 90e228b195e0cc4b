import type { EntityManager } from 'typeorm';
import type { ImportIssue } from './import-error';
import type { RowCheck } from './row-check';

/** Where a record was found in the file. */
export interface RecordLocation {
  section: string;
  /** Zero-based index of the record within its section. */
  index: number;
  /** One-based line number in the file, where the format has lines. */
  line?: number | null;
}

/** Where to report an error. */
export interface ErrorLocation extends Pick<ImportIssue, 'line' | 'column' | 'path'> {
  /** Sorts errors by their places in the file; by default they are sorted by line. */
  order?: number;
  /** Whether the stored value differs so much from what the file has that a message must not show it. */
  isValueHidden?: boolean;
}

/** How to find the stored row of an imported record by something else than the dataset's key. */
export interface RecordMatch {
  /** SQL of what identifies the record of a staged row. Rows that have it in common are the same record. */
  key: (staged: string) => string;
  /** SQL of the value that messages show. */
  value: (staged: string) => string;
  /** SQL of the id of the matching stored row, or null if there is none. `$1` is the organization's id. */
  findId: (staged: string) => string;
  /** The keys of the records that a stored row may match, as a query of one column. */
  storedKeys: (stored: string) => string;
}

/** Which fields a file provides. Fields it does not provide keep their stored values. */
export interface Coverage {
  /** Whether the file provides only some of the fields, as CSV does. */
  isPartial: boolean;
  providesField(path: string): boolean;
  /** SQL for the new value of a column, given its stored and its imported value. */
  mergeSql(path: string, stored: string, imported: string): string;
  /** Where to report an error at a path of a record; an empty path means the whole record. */
  locateError(record: RecordLocation, path: string): ErrorLocation;
  /** How to find the stored row of an imported record; by the dataset's key if undefined. */
  match?: RecordMatch;
  /** The path of the field that `match` looks for. */
  matchPath?: string;
  /** What to do with several rows for the same record; they are an error if undefined. */
  onDuplicate?: OnDuplicate;
  /** Takes a record that cannot be imported. If undefined, such a record keeps the others from being imported. */
  skipRecord?: (record: SkippedRecord) => void;
  /** Whether records were skipped while the file was read. */
  hasSkippedRecords?(): boolean;
  /** Checks of records beside those that every import needs. */
  checks?: RowCheck[];
  /** The fields of the entries of an additive list that the file provides, for entries that are stored. */
  updatedEntryFields?(list: string): string[];
  /** Whether `createReferences` creates what a field refers to. */
  createsReferences?(path: string): boolean;
  /** Creates what records refer to and what is not stored yet, in the transaction that writes the records. */
  createReferences?(manager: EntityManager): Promise<void>;
}

/** What to do with several rows for the same record. */
export type OnDuplicate = 'keepFirst' | 'keepLast' | 'merge';

/** A record that is not imported. */
export interface SkippedRecord extends Pick<ImportIssue, 'line' | 'column' | 'value'> {
  reason: string;
  /** The cells of its row. */
  cells: string[];
}

/** Coverage of formats that always contain whole records, such as JSON. */
export const FULL_COVERAGE: Coverage = {
  isPartial: false,
  providesField: () => true,
  mergeSql: (_path, _stored, imported) => imported,
  locateError({ section, index, line = null }, path) {
    const recordPath = `${section}[${index}]`;
    return { line, column: null, path: path ? `${recordPath}.${path}` : recordPath };
  },
};
