import type { RecordMatch } from '../datasets/coverage';
import type { Dataset } from '../datasets/dataset';
import type { CsvField } from './csv-fields';

/** What a section has as CSV beside the fields of its record. */
export interface CsvDefinition {
  /** Fields that replace those of the record with the same name, and further ones. */
  fields: CsvField[];
  /** Generates the key of a record that has none; the database does if undefined. */
  generateId?: () => string;
  /** The fields that an option of `import` fills in every row, by the name of the option. */
  optionFields?: Record<string, string>;
  /** What `--match` may match rows by, beside the key. */
  matches?: Record<string, CsvMatch>;
}

/** How to match a row with a stored record by the value of a column. */
export interface CsvMatch extends RecordMatch {
  /** The names of fields that hold the value. The file must have a column of one of them. */
  fieldNames: RegExp;
  /** What such a column holds, with its article. */
  noun: string;
}

/** A dataset that can be read and written as CSV. */
export interface CsvDataset extends Dataset {
  csv: CsvDefinition;
}

export const withCsv = (dataset: Dataset, csv: CsvDefinition): CsvDataset => ({ ...dataset, csv });

export const hasCsv = (dataset: Dataset): dataset is CsvDataset => 'csv' in dataset;
