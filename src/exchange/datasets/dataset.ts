import type { Class } from '../../fields/field-rules';
import type { RecordLocation } from './import-plan';

/**
 * What a section of a dataset holds: the record that import and export share, and the table that stores it. Columns,
 * their types and what they refer to come from the entity; a dataset declares only what the entity cannot.
 */
export interface Dataset {
  record: Class;
  entity: Class;
  /** What messages call one record, such as `tag group`. */
  noun: string;
  /** The field that identifies a record. Imports match it with stored rows, and other records refer to it. */
  key: string;
  /** The paths of properties of the entity whose fields have other names, such as `company.name`. */
  paths?: Record<string, string>;
  /** The properties of the entity that no field holds. Any other one without a field is an error at startup. */
  notExported?: readonly string[];
  /** The arrays of the record whose entries are rows of other tables. */
  lists?: RecordList[];
  /** The table whose rows render rows of this one. It is written right after this one, so that it renders each row once. */
  renderedBy?: string;
  /** The fields that are not columns. */
  computedFields?: Record<string, ComputedField>;
  readOnlyFields?: ReadOnlyFields;
  /** SQL of what GET shows of a row, if that is more than the record. An import that does not change it changes nothing. */
  comparableState?: (row: string) => string;
  /** Whether an import reports the ids of the records by their keys, because the database numbers them. */
  reportsIds?: boolean;
  /** The names that other programs give to fields, by the paths of the fields. */
  aliases?: Record<string, string[]>;
  /**
   * SQL of what several rows of a file that are one record have together, by the path of the field. It is made of the array
   * of their values that are not null, and of their number. By default the first value counts.
   */
  mergedValues?: Record<string, (values: string, count: string) => string>;
  /** The texts that are lists, whose entries `;` separates. */
  textLists?: string[];
  /** SQL of whether a row has an entry, a JSON object, that only one record may have, by the name of the list. */
  exclusiveEntries?: Record<string, (row: string, entry: string) => string>;
  /** How to import records that all organizations share. */
  shared?: SharedDataset;
}

/** An array of a record whose entries are rows of another table. */
export interface RecordList {
  /** The field that holds the array. */
  name: string;
  entity: Class;
  /** What messages call one entry, if other records refer to it. */
  noun?: string;
  /** The property that tells entries apart. An entry that is a text is the value of this property. */
  key: string;
  /** The paths, in an entry, of properties of the entity whose fields have other names. */
  paths?: Record<string, string>;
  /** The properties of the entity that no entry holds. */
  notExported?: readonly string[];
  /** SQL that orders the entries of an export; by default they are ordered by their positions. */
  order?: (row: string) => string;
  /** The property that orders new rows. Rows with the same value keep the order of the file. */
  orderedBy?: string;
  /** Whether stored rows stay when the record does not have them. */
  isAdditive?: boolean;
  /** The table whose rows render rows of this one. */
  renderedBy?: string;
}

/** A field that no column stores. */
export interface ComputedField {
  /** The SQL type of its staged value. */
  type: string;
  /** SQL of its value for a stored row. `$1` is the organization's id. */
  select: (row: string) => string;
}

/** What GET shows beside the fields of the record. A file may have it where it equals what is stored. */
export interface ReadOnlyFields {
  /** Their paths; `tags.value` is in each entry of `tags`. */
  paths: string[];
  /** SQL of a JSON object of a stored row that has these fields. */
  json: (row: string) => string;
}

/** How to import the rows of a table that all organizations share. They are staged in the table `staged_…`. */
export interface SharedDataset {
  checks: ColumnCheck[];
  /** The condition of stored rows that staged rows may match. */
  matchingRows: (row: string) => string;
  /**
   * The statements that write the staged rows. `$1` is the organization's id.
   * @param provided the columns that the file provides, without the id and dates of creation and change
   * @param columns all such columns
   */
  writeStatements: (provided: string[], columns: string[]) => string[];
}

/** A check of one column of the staged rows. */
export interface ColumnCheck {
  column: string;
  /** SQL, to be used after `from`, that gives the staged rows with an invalid value. */
  findViolations: (staged: string) => string;
  /** The error message for a value, which is already in quotes. */
  message: (value: string) => string;
  /** What a valid value is. */
  expected: string;
}

type Names<Values> = Values extends readonly { name: infer Name }[] ? Name : never;
type Keys<Values> = Values extends object ? keyof Values : never;
type FirstSegments<Values> =
  Values extends Record<string, infer Path> ? (Path extends `${infer First}.${string}` ? First : Path) : never;

/** The fields of a record that are stored nowhere. */
type Unstored<R, E, D extends Partial<Dataset>> = Exclude<
  keyof R,
  keyof E | FirstSegments<D['paths']> | Names<D['lists']> | Keys<D['computedFields']>
>;

/** Declares a dataset. It does not compile if a field of the record is stored nowhere; the compiler names the field. */
export const datasetOf = <R extends object, E extends object, const D extends Omit<Dataset, 'record' | 'entity'>>(
  record: Class<R>,
  entity: Class<E>,
  rest: D & { notExported?: readonly (keyof E)[] } & ([Unstored<R, E, D>] extends [never]
      ? unknown
      : { notStored: Unstored<R, E, D> }),
): Dataset => ({ record, entity, ...(rest as D) });

/** Numbers of records by section. */
export type Counts = Record<string, number>;

/** A record as it was read, before it is checked. */
export interface RawRecord {
  section: string;
  record: unknown;
  /** One-based line number in the file, where the format has lines. */
  line?: number;
}

/** Records, if they are read from a file part by part. */
export type Records = Iterable<RawRecord> | AsyncIterable<Iterable<RawRecord>>;

/** The datasets of all contexts. */
export class Datasets {
  /** The names of the sections. A section comes after those that its records refer to. */
  readonly names: string[];

  constructor(readonly sections: Record<string, Dataset>) {
    this.names = Object.keys(sections);
  }

  of(section: string): Dataset {
    return this.sections[section] as Dataset;
  }

  /** Whether a value is the name of a section. */
  has = (section: unknown): section is string => this.names.includes(section as string);

  noRecords(): Counts {
    return Object.fromEntries(this.names.map((section) => [section, 0]));
  }
}

/** More than any section has records. */
const SECTION_SIZE = 1e9;

/** Sorts errors in the order of the file: by line, or in one JSON object by section and index. */
export const orderInFile = ({ names }: Datasets, { section, index, line }: RecordLocation): number =>
  line ?? names.indexOf(section) * SECTION_SIZE + index;
