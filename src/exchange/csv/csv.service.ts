import { Injectable } from '@nestjs/common';
import { type Class, classOf, type FieldSchema, type TextKind } from '../../fields/field-rules';
import { Datasets } from '../datasets/dataset';
import { fieldsIn } from '../datasets/tables';
import { normalizedName } from '../datasets/similar-names';
import { csvField, type CsvField } from './csv-fields';
import { type CsvDataset, type CsvDefinition, hasCsv } from './csv-section';
import {
  booleanValue,
  type CsvValueType,
  dateTimeValue,
  emailValue,
  identifierValue,
  integerValue,
  jsonValue,
  numberValue,
  textListValue,
  textValue,
} from './csv-values';

/** The columns that come first in an export. */
const LEADING_FIELDS = ['id', 'createdAt', 'updatedAt', 'createdBy'];

/** A section that can be read and written as CSV: which columns a file may have. */
export interface CsvSection {
  name: string;
  definition: CsvDefinition;
  /** The name of the field that identifies a record. */
  key: string;
  /** In the order of an export. */
  fields: CsvField[];
  /** The fields by all their normalized names: `company` and `accountname` are `company.name`. */
  fieldsByName: Map<string, CsvField>;
}

/** Knows which columns a CSV file may have. */
@Injectable()
export class CsvService {
  /** The sections that can be read and written as CSV. */
  readonly sections: string[];
  private readonly sectionsByName = new Map<string, CsvSection>();

  constructor(readonly datasets: Datasets) {
    for (const name of datasets.names) {
      const dataset = datasets.of(name);
      if (hasCsv(dataset)) this.sectionsByName.set(name, sectionOf(name, dataset));
    }
    this.sections = [...this.sectionsByName.keys()];
  }

  /** @param name one of `sections` */
  section = (name: string): CsvSection => this.sectionsByName.get(name)!;

  fields = (section: string): CsvField[] => this.section(section).fields;
}

function sectionOf(name: string, { record, key, aliases = {}, csv: definition }: CsvDataset): CsvSection {
  const ofRecord = recordFields(record).map((own) => definition.fields.find(({ name }) => name === own.name) ?? own);
  const leading = LEADING_FIELDS.flatMap((name) => ofRecord.filter((field) => field.name === name));
  const fields = [...new Set([...leading, ...ofRecord, ...definition.fields])];
  return { name, definition, key, fields, fieldsByName: indexByName(fields, aliases) };
}

/** The field with a name, which an export and `import --help` write exactly so. */
export const fieldNamed = ({ fields }: CsvSection, name: string | null): CsvField | undefined =>
  fields.find((field) => field.name === name);

/** The columns that every export has: those that are not optional and do not depend on what is stored. */
export const exportedNames = ({ fields }: CsvSection): string[] =>
  fields.filter((field) => field.format && !field.isOptional && !field.isPresentSql).map(({ name }) => name);

/** A name in letters and digits. `Attendee #` is a number, not an attendee. */
export const columnKey = (name: string): string => normalizedName(name.replace(/#\s*$/, ' number'));

/** A field's own name wins over short names, and these win over aliases. */
function indexByName(fields: CsvField[], aliases: Record<string, string[]>): Map<string, CsvField> {
  const all = [
    ...fields.flatMap((field) => (aliases[field.name] ?? []).map((alias) => [alias, field] as const)),
    ...fields.map((field) => [field.name.replace(/\.name$/, ''), field] as const),
    ...fields.map((field) => [field.name, field] as const),
  ];
  return new Map(all.map(([name, field]) => [columnKey(name), field]));
}

/** The fields of a record, with those of its objects listed one by one. */
const recordFields = (record: Class): CsvField[] =>
  [...fieldsIn(record)]
    .filter(([, schema]) => !classOf(schema) || schema.isArray)
    .map(([path, schema]) => csvField(path, valueTypeOf(schema), schema.nullable ? null : undefined));

const VALUE_TYPES: Record<string, CsvValueType> = {
  integer: integerValue,
  number: numberValue,
  boolean: booleanValue,
  array: textListValue,
};

const TEXT_VALUE_TYPES: Record<TextKind, CsvValueType> = {
  uuid: identifierValue,
  date: identifierValue,
  time: identifierValue,
  'date-time': dateTimeValue,
  email: emailValue,
  text: textValue,
  json: jsonValue,
};

function valueTypeOf(schema: FieldSchema): CsvValueType {
  if (classOf(schema)) return jsonValue;
  if (schema.decimal && schema.type === 'string') return identifierValue;
  return VALUE_TYPES[String(schema.type)] ?? TEXT_VALUE_TYPES[schema.kind];
}
