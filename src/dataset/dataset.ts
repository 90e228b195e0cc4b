import type { Field } from './cells';

export type RecordClass<T extends object = object> = new () => T;

/**
 * What a section of a dataset holds: the record that import, export and CSV share, and the table it goes to. Columns,
 * their types and what they refer to come from the entity; this says only what the entity cannot.
 */
export interface Dataset {
  record: RecordClass;
  /** the name of the entity's class */
  entity: string;
  /** the field by which a record is matched with a stored row, and by which other records refer to it */
  key: string;
  /** the place in the record of an entity's property, where it is not the property's name: `company.name` */
  path?: (property: string) => string;
  /** arrays of the record that are rows of other tables */
  lists?: List[];
  /** the table whose rows show this one's: these are written first, and so are rendered once */
  shownBy?: string;
  /** fields that are no columns, with their types, and the SQL that gives them of a row `t` */
  more?: Record<string, { type: string; select: string }>;
  /** the SQL in place of what every section has in common */
  shared?: SharedDataset;
  /** as CSV; without it the section cannot be read or written so */
  csv?: CsvDataset;
}

/** An array of a record. */
export interface List {
  /** the field */
  name: string;
  entity: string;
  /** the property that differs between entries; entries of text are it */
  key: string;
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
}

/** Where @ApiProperty keeps what it is given; mapped types copy it. */
const NAMES = 'swagger/apiModelPropertiesArray';
const SCHEMA = 'swagger/apiModelProperties';

/** What the decorators of api-schema say of a field. */
export interface FieldSchema {
  type?: string | (() => RecordClass);
  isArray?: boolean;
  nullable?: boolean;
  required?: boolean;
}

/** The fields of a record, in the order of its class. */
export function fieldsOf({ prototype }: RecordClass): Map<string, FieldSchema> {
  const holder = prototype as object;
  const names = (Reflect.getMetadata(NAMES, holder) ?? []) as string[];
  return new Map(
    names.map((name) => [name.slice(1), Reflect.getMetadata(SCHEMA, holder, name.slice(1)) as FieldSchema]),
  );
}

/** The class of the objects that a field holds. */
export const classOf = ({ type }: FieldSchema): RecordClass | undefined =>
  typeof type === 'function' ? type() : undefined;
