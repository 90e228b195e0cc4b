import type { EntityManager } from 'typeorm';
import type { ImportIssue, IssueCollector, LocatedIssue } from './import-error';

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

/** A check of staged rows. */
export interface RowCheck {
  /** The path of the checked field in a record, or in an entry of the table's array. */
  path: string;
  /** SQL of the value of a staged row that messages show. */
  value: (staged: string) => string;
  /** SQL, to be used after `from`, that gives the invalid staged rows. */
  findViolations: (staged: string) => string;
  /** SQL of JSON that the message needs beside the value. */
  details?: (staged: string) => string;
  /** The error message for a value, which is already in quotes. */
  message: (value: string, details: unknown) => string;
  /** What a valid value is. */
  expected: string;
  /** Errors of one kind are reported in one line. */
  kind?: string;
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

/** Which of several rows for the same record counts; or they are merged. */
export type OnDuplicate = 'first' | 'last' | 'merge';

/** Records that others refer to and that are not stored yet. They are known when the whole file has been read. */
export interface NewReferences {
  /** The path of the field that refers to them. */
  path: string;
  /** How many there are. */
  count: () => number;
  /** Creates them, in the transaction that writes the records. */
  create: (manager: EntityManager) => Promise<void>;
}

/**
 * What a file provides and how its records become stored ones. It is made before the first record is read, and the steps
 * after that only read it. Fields that the file does not provide keep their stored values.
 */
export interface ImportPlan {
  /** Whether the file provides only some of the fields, as CSV does. */
  readonly isPartial: boolean;
  /** Whether to leave out what cannot be imported; otherwise one error keeps all records from being imported. */
  readonly isLenient: boolean;
  /** Whether a stored record keeps its values of fields that its row has no value for. */
  readonly keepsMissing?: boolean;
  /** Whether records that are not stored are left out. */
  readonly isUpdateOnly?: boolean;
  readonly providesField: (path: string) => boolean;
  /** SQL for the new value of a column, given its stored and its imported value. */
  readonly mergeSql: (path: string, stored: string, imported: string) => string;
  /** Where to report an error at a path of a record; an empty path means the whole record. */
  readonly locateError: (record: RecordLocation, path: string) => ErrorLocation;
  /** How to find the stored row of an imported record; by the dataset's key if undefined. */
  readonly match?: RecordMatch;
  /** The path of the field that `match` looks for. */
  readonly matchPath?: string;
  /** What to do with several rows for the same record; they are an error if undefined. */
  readonly onDuplicate?: OnDuplicate;
  /** SQL of what two rows of one person most likely have in common. Such rows are only counted. */
  readonly personKey?: (staged: string) => string;
  /** Checks of records beside those that every import needs. */
  readonly checks: readonly RowCheck[];
  /** The fields of the entries of an additive list that a partial file provides, for entries that are stored. */
  readonly updatedEntryFields?: (list: string) => string[];
  readonly newReferences: readonly NewReferences[];
}

/** The plan of formats that always contain whole records, such as JSON. */
export const WHOLE_RECORDS: ImportPlan = Object.freeze({
  isPartial: false,
  isLenient: false,
  providesField: () => true,
  mergeSql: (_path: string, _stored: string, imported: string) => imported,
  locateError({ section, index, line = null }: RecordLocation, path: string): ErrorLocation {
    const recordPath = `${section}[${index}]`;
    return { line, column: null, path: path ? `${recordPath}.${path}` : recordPath };
  },
  checks: [],
  newReferences: [],
});

/** A connection, and the organization whose records are read or written with it. */
export interface OrganizationConnection {
  organizationId: number;
  manager: EntityManager;
}

/** What the steps of an import share. Its connection holds the temporary tables. */
export interface ImportContext extends OrganizationConnection {
  issues: IssueCollector;
}

/** Runs a statement in which `$1` is the organization's id. PostgreSQL rejects a parameter that a statement does not use. */
export const runStatement = <Row>({ manager, organizationId }: OrganizationConnection, sql: string): Promise<Row[]> =>
  manager.query<Row[]>(sql, sql.includes('$1') ? [organizationId] : []);

/** A cell, or a row, that a lenient import leaves out. */
export interface LeftOut {
  line: number | null;
  /** Null for a row. */
  column: string | null;
  value: unknown;
  reason: string;
  /** The text of a row that was skipped. */
  rowText?: string;
}

/** What a reader makes of one record, or of one row or line that is none. */
export interface ReadRecord {
  /** Undefined for a row or line that is no record. */
  location?: RecordLocation;
  /** The valid record, without the values of its errors; undefined if there is none. */
  record?: object;
  /** Its errors. They keep a strict import from being written; a lenient one leaves out their values. */
  issues: LocatedIssue[];
  /** Why the whole row is no record, or cannot be used. */
  problem?: LocatedIssue;
  /** The text of its row, which a lenient import lists if it leaves out the row. */
  rowText?: string;
}

/** A file of one format: its plan, and the reader of its records. */
export interface ImportSource<Plan extends ImportPlan = ImportPlan> {
  /** @throws ImportError if the file cannot be read */
  plan(context: ImportContext): Plan | Promise<Plan>;
  /**
   * The records, part by part: a promise for each record would take as long as its checks.
   * @throws ImportError if the rest of the file cannot be read
   */
  read(plan: Plan, context: ImportContext): AsyncIterable<Iterable<ReadRecord>>;
}
