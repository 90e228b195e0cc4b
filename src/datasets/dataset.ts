import type { Field } from '../csv/csv-values';

export type Class<T extends object = object> = new () => T;

/**
 * What a section of a dataset holds: the record that import, export and CSV share, and the table it goes to. Columns,
 * their types and what they refer to come from the entity; this says only what the entity cannot.
 */
export interface Dataset {
  record: Class;
  entity: Class;
  /** the field by which a record is matched with a stored row, and by which other records refer to it */
  key: string;
  /** the places in the record of properties of the entity, where they have other names: `company.name` */
  places?: Record<string, string>;
  /** arrays of the record that are rows of other tables */
  lists?: List[];
  /** the table whose rows show this one's: these are written first, and so are rendered once */
  shownBy?: string;
  /** fields that are no columns, with their types, and the SQL that gives them of a row `t` */
  more?: Record<string, { type: string; select: string }>;
  /** what GET shows beside the fields of the record, where `json` of a row `t` has it: `tags.value` is of the entries of tags */
  shown?: { fields: string[]; json: string };
  /** SQL of what GET shows of a row `t`, where that is not the record: an import that leaves it alike changes nothing */
  state?: string;
  /** the SQL in place of what every section has in common */
  shared?: SharedDataset;
  /** as CSV; without it the section cannot be read or written so */
  csv?: CsvDataset;
}

/** An array of a record. */
export interface List {
  /** the field */
  name: string;
  entity: Class;
  /** the property that differs between entries; entries of text are it */
  key: string;
  /** the places in an entry of properties of the entity, where they have other names */
  places?: Record<string, string>;
  /** the order of the entries in an export, of rows `c` */
  order?: string;
  /** the property that says the order of new rows, before the file does */
  orderedBy?: string;
  /** rows that the record lacks stay */
  isAdditive?: boolean;
  shownBy?: string;
}

/** The rows of a dataset that every organization shares, staged as the table `staged_…`; `$1` is the organization. */
export interface SharedDataset {
  /** what is wrong with a column of rows `s`, which are given as they stand after `from` */
  checks: { rows: string; column: string; reason: string }[];
  /** the condition of stored rows `t` that staged rows may be */
  known: string;
  /**
   * The statements that write the rows.
   * @param given the columns that the file has, of all but the id and moments
   */
  move: (given: string[], columns: string[]) => string[];
}

export interface CsvDataset {
  /** fields in place of the record's own of that name, and others */
  fields: Field[];
  /** makes the id of a row that has none; otherwise the database does */
  newId?: () => string;
  /** the names that other programs give the columns of fields */
  aliases?: Record<string, string[]>;
  /** the field that names the events of `--event` */
  events?: string;
  /** how `--match` finds the stored row of a staged one */
  matches?: Record<string, CsvMatch>;
}

/** A key by which rows of a file are those that are stored. */
export interface CsvMatch {
  /** the columns that have it: one of them, once */
  fields: RegExp;
  /** SQL of the key of a staged row `s`, and of the value that a message shows */
  key: string;
  shown: string;
  /** SQL that gives the id of the stored row of a staged one `s`; `$1` is the organization */
  find: string;
}

type Names<Values> = Values extends readonly { name: infer Name }[] ? Name : never;
type Keys<Values> = Values extends object ? keyof Values : never;
type Heads<Values> =
  Values extends Record<string, infer Place> ? (Place extends `${infer Head}.${string}` ? Head : Place) : never;

/** The fields of a record that are stored nowhere. */
type Unstored<R, E, D extends Partial<Dataset>> = Exclude<
  keyof R,
  keyof E | Heads<D['places']> | Names<D['lists']> | Keys<D['more']>
>;

/** A dataset of which the compiler knows that each field of the record is stored: it refuses the names of those that are not. */
export const datasetOf = <R extends object, E extends object, const D extends Omit<Dataset, 'record' | 'entity'>>(
  record: Class<R>,
  entity: Class<E>,
  rest: D & ([Unstored<R, E, D>] extends [never] ? unknown : { notStored: Unstored<R, E, D> }),
): Dataset => ({ record, entity, ...(rest as D) });

/** Records, a section. */
export type Counts = Record<string, number>;

/** A record as it was read, and where. */
export interface UncheckedRecord {
  section: string;
  record: unknown;
  /** of the file, from 1 */
  line?: number;
  /** where it has faults that have been told: what is at fault */
  told?: string[];
}

export type Records = Iterable<UncheckedRecord> | AsyncIterable<UncheckedRecord>;

/** The datasets of all contexts. */
export class Datasets {
  /** in an order in which what is referred to comes first */
  readonly names: string[];

  constructor(readonly sections: Record<string, Dataset>) {
    this.names = Object.keys(sections);
  }

  of(section: string): Dataset {
    return this.sections[section] as Dataset;
  }

  /** @param section that is one of them */
  has = (section: unknown): section is string => this.names.includes(section as string);

  noRecords(): Counts {
    return Object.fromEntries(this.names.map((section) => [section, 0]));
  }
}
