import { schemasOf } from '../../fields/field-rules';
import { uuidV7 } from '../../data/database/uuid';
import type { RecordMatch } from '../datasets/import-plan';
import type { Dataset } from '../datasets/dataset';
import type { RowCheck } from '../datasets/import-plan';
import type { CsvField, RecordDraft } from './csv-fields';

/** What a section supports as CSV, in addition to the fields of its record. */
export interface CsvDefinition {
  /** Fields that replace those of the record with the same name, and further ones. */
  fields: CsvField[];
  /** Generates the key of a record that has none; by default a UUID, if the key is one and the organization's own. */
  generateId?: () => string;
  /** The values that `--match` can match rows by, in addition to the key. */
  matches?: Record<string, CsvMatch>;
  /** What columns of IDs may hold, in addition to Lanyard's own IDs. */
  identifiers?: CsvIdentifiers;
  /** Fields that hold the address of a user. A column of one of them without any address is skipped. */
  userFields?: string[];
  /** The fields of a person, in sections that have them. */
  person?: PersonFields;
  /** Completes a record when all its cells have been read. */
  complete?: (record: RecordDraft) => void;
  usable?: UsableRecord;
  /** The key of `matches` by which two rows are most likely about the same person. */
  personMatch?: string;
}

/** By what somebody can be recognized or reached. */
export interface UsableRecord {
  /** The fields of which a useful record needs at least one. */
  fieldNames: RegExp;
  /** Those of them whose values may be numbers, and those that are names of persons. */
  numberFields: RegExp;
  nameFields: RegExp;
  /** The fields of states, which say nothing of who somebody is. */
  stateFields: RegExp;
  /** Whether it has one of them. */
  isUsable: (record: RecordDraft) => boolean;
}

/** The fields that words in the names of columns concern. */
export interface PersonFields {
  /** The field of a number or address for each of the kinds of `words.json`, by the field for any of them. */
  kindFields: Record<string, Record<string, string>>;
  /** The field of titles, which salutations are not. */
  titleField: string;
  /** The fields that may have a prefix such as `Ticket` or `Order`. */
  prefixedFields: RegExp;
  /** The fields that a file about attendees has without a buyer's prefix. */
  attendeeFields: RegExp;
}

/** What a column of ids such as `Record ID` may fill. */
export interface CsvIdentifiers {
  /** The field of Lanyard's own IDs. */
  id: string;
  /** The field of IDs that another program or a person has assigned. */
  ref: string;
  /** The programs whose ids have fields of their own. */
  systems: ExternalSystem[];
  /** The value of `--match` for rows that have an ID of such a program. */
  match: string;
  /** Checks that a row with such an ID is about the same person as the record that has it. */
  samePersonCheck: (providesField: (path: string) => boolean, isRef: boolean) => RowCheck;
}

/** A program that assigns IDs, and how to recognize a column of them. */
export interface ExternalSystem {
  field: string;
  /** The form of all its IDs. */
  idPattern?: RegExp;
  /** If its IDs have no such form: the names of its ID columns, and of other columns, of which its files have some. */
  idColumns?: string[];
  usualColumns?: string[];
}

/** How to match a row with a stored record by the value of a column. */
export interface CsvMatch extends RecordMatch {
  /** The names of fields that hold the value. The file must have a column of one of them. */
  fieldNames: RegExp;
  /** Whether the file may have columns of only one of these fields. */
  isOfOneField?: boolean;
  /** A noun with its article for what such a column holds, for messages. */
  noun: string;
  /** Whether a record has the value. */
  hasKey: (record: RecordDraft) => boolean;
}

/** A dataset that can be read and written as CSV. */
export interface CsvDataset extends Dataset {
  csv: CsvDefinition;
}

/** A section that can be read and written as CSV, too. */
export function withCsv(dataset: Dataset, csv: CsvDefinition = { fields: [] }): CsvDataset {
  const hasUuid = schemasOf(dataset.record).get(dataset.key)?.kind === 'uuid' && !dataset.shared;
  return { ...dataset, csv: { generateId: hasUuid ? uuidV7 : undefined, ...csv } };
}

export const hasCsv = (dataset: Dataset): dataset is CsvDataset => 'csv' in dataset;
