import { schemasOf } from '../../fields/field-rules';
import { uuidV7 } from '../../data/database/uuid';
import type { RecordMatch, RowCheck } from '../datasets/import-plan';
import type { Dataset } from '../datasets/dataset';
import type { CsvField, RecordDraft } from './csv-fields';

/** What a section supports as CSV, in addition to the fields of its record. */
export interface CsvDefinition {
  /** Fields that replace those of the record with the same name, and further ones. */
  fields: CsvField[];
  /** Generates the key of a record that has none; by default a UUID, if the key is one and the organization's own. */
  generateId?: () => string;
  /** The values that `--match` can match rows by, in addition to the key. */
  matches?: Record<string, CsvMatch>;
  /** The field of IDs that another program or a person has assigned, and a check of the rows that have one. */
  ref?: { field: string; check: (providesField: (path: string) => boolean) => RowCheck };
  /** Completes a record when all its cells have been read. */
  complete?: (record: RecordDraft) => void;
  /** Whether a record tells who or what it is; by default each one does. */
  isIdentified?: (record: RecordDraft) => boolean;
  /** What nearly every record has. A proposal warns of a file in which most have not. */
  usual?: { noun: string; has: (record: RecordDraft) => boolean };
  /** The key of `matches` by which two rows are most likely about the same one. */
  personMatch?: string;
  /** The first words of columns that are about somebody else, such as `Buyer`, and those that change nothing. */
  prefixes?: { other: string[]; same: string[] };
  /** Corrects the fields that are proposed for columns one by one, where one depends on the others. */
  refineProposal?: (columns: ProposedColumn[]) => (string | null)[];
}

/** A column of a file for which a field is proposed. */
export interface ProposedColumn {
  field: string | null;
  /** How many cells have a text. */
  filled: number;
}

/** How to match a row with a stored record by the value of a column. */
export interface CsvMatch extends RecordMatch {
  /** The names of fields that hold the value. The file must have a column of one of them, and not of two. */
  fieldNames: RegExp;
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
