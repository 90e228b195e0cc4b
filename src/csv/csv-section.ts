import { schemasOf } from '../fields/field-rules';
import { uuidV7 } from '../database/uuid';
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
  /** The fields that an option of `import` fills in every row, by the name of the option. */
  optionFields?: Record<string, string>;
  /** The values that `--match` can match rows by, in addition to the key. */
  matches?: Record<string, CsvMatch>;
  /** What columns of IDs may hold, in addition to Lanyard's own IDs. */
  identifiers?: CsvIdentifiers;
  /** Fields that hold the address of a user. A column of one of them without any address is skipped. */
  userFields?: string[];
  /** What words in the names and values of columns mean. */
  words?: ColumnWords;
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

/** Words in lower case that tell what a column is, and the fields that they concern. */
export interface ColumnWords {
  /** Words of which values are made that are no titles, such as `mrs`. */
  salutations: string[];
  /** Words for numbers at which nobody answers, such as `fax`. */
  otherNumbers: string[];
  /** First words of the names of columns about the person who comes, and about the one who has paid. */
  attendeePrefixes: string[];
  buyerPrefixes: string[];
  /** Names that have such a prefix and are those of things, such as `Ticket Name`. */
  itemNames: string[];
  /** Words in the titles of tables of others than those who come. */
  otherTables: string[];
  /** The kinds of numbers and addresses, by the words for them. */
  kinds: Record<string, string[]>;
  /** The field for each kind, by the field for any of them. */
  kindFields: Record<string, Record<string, string>>;
  /** Last words of the names of columns that say of which kind the values of another column are. */
  typeNames: string[];
  /** Names of columns that say what has become of each row, and words in their values for those who do not come. */
  stateColumns: string[];
  outStates: string[];
  /** Last words of the names of companies, and words in street addresses. */
  companyForms: string[];
  streets: string[];
  /** Names that mean something else in a file that has a certain other column, such as the region of an IP address. */
  foreignColumns: { names: string[]; beside: string }[];
  titleField: string;
  /** The fields that may have such a prefix. */
  personFields: RegExp;
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
  samePersonCheck: (providesField: (path: string) => boolean, isRef: boolean, advice: string) => RowCheck;
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

const NOTHING = /(?!)/;

/** The words of a section whose columns are known by their names alone. */
export const NO_WORDS: ColumnWords = {
  salutations: [],
  otherNumbers: [],
  attendeePrefixes: [],
  buyerPrefixes: [],
  itemNames: [],
  otherTables: [],
  kinds: {},
  kindFields: {},
  typeNames: [],
  stateColumns: [],
  outStates: [],
  companyForms: [],
  streets: [],
  foreignColumns: [],
  titleField: '',
  personFields: NOTHING,
  attendeeFields: NOTHING,
};

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
