import type { OnDuplicate } from '../datasets/import-plan';
import type { ColumnFacts } from './column-facts';
import type { CsvField } from './csv-fields';
import type { DateTimeOptions } from './date-times';

/** How a CSV file is written, and what its columns and rows mean. */
export interface CsvFormat extends DateTimeOptions {
  section: string;
  /** A comma by default in an export; detected from the first lines of the file in an import. */
  delimiter?: string;
  mappings: ColumnMapping[];
  /** Whether cells that a spreadsheet would run as formulas have no apostrophe before them. */
  raw?: boolean;
  /** How many lines to skip before the header; the header is detected if undefined. */
  skipLines?: number;
  /** Ranges of lines, first and last, on which rows are skipped. */
  skipRows?: [first: number, last: number][];
  encoding?: string;
  /** The rows to import: those that have one of the values in each of the columns that are named. */
  only?: { column: string; value: string }[];
  /** Whether to skip columns that match no field. */
  ignoreUnknown?: boolean;
  /** Whether to leave out what cannot be read, instead of rejecting the file. */
  lenient?: boolean;
  optionValues: OptionValue[];
  /** The value by which rows are matched with stored records, if the operator has chosen it. */
  match?: string;
  /** What to do with several rows for the same record; they are an error if undefined. */
  repeated?: OnDuplicate;
  /** Which program or list the IDs of the file are from. */
  source?: string;
  /** Whether a row may change the person of a record that has its id. */
  overwrite?: boolean;
  /** The group in which to create tags that cells refer to and that do not exist. */
  createTags?: string;
}

/** `--map COLUMN=FIELD`. The column is skipped if the field is undefined. */
export interface ColumnMapping {
  column: string;
  field: CsvField | undefined;
}

/** A value that an option of the command sets for a field in every row. */
export interface OptionValue {
  option: string;
  field: CsvField;
  value: string;
}

/** A column of a file. */
export interface CsvColumn {
  /** Its name in the header. */
  name: string;
  /** Zero-based index of its cells in a row. */
  index: number;
  /** The number of columns with this name, up to and including this one. */
  nth: number;
  /** What its values have in common; undefined without values. */
  facts?: ColumnFacts;
  /** The field that it fills; undefined if it is skipped. */
  field: CsvField | undefined;
  /** Index of the column with the times of its dates. */
  timeIndex?: number;
  /** The column that says of which kind its values are, and the field for each kind: null if it is left out. */
  type?: { index: number; fields: ReadonlyMap<string, CsvField | null> };
  /** What it is used for, if it fills no field. */
  use?: string;
  /** Whether nothing is known that it could fill, and `--map` does not say so. */
  isUnknown?: boolean;
  /** Why it is skipped although the operator has not asked for that. */
  skipReason?: string;
}
