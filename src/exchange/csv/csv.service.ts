import { Injectable } from '@nestjs/common';
import { type Class, classOf, type FieldSchema, type TextKind } from '../../fields/field-rules';
import { Datasets } from '../datasets/dataset';
import { fieldsIn } from '../datasets/tables';
import { wordsOf } from '../datasets/similar-names';
import { columnKey } from './column-mappings';
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
  definition: CsvDefinition;
  /** The name of the field that identifies a record. */
  key: string;
  /** In the order of an export. */
  fields: CsvField[];
  /** The fields by all their normalized names: `company` and `accountname` are `company.name`. */
  fieldsByName: Map<string, CsvField>;
  /** The words with which names of columns end, such as `address`. */
  lastWords: Set<string>;
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
      if (hasCsv(dataset)) this.sectionsByName.set(name, sectionOf(dataset));
    }
    this.sections = [...this.sectionsByName.keys()];
  }

  /** @param name one of `sections` */
  section = (name: string): CsvSection => this.sectionsByName.get(name)!;

  fields = (section: string): CsvField[] => this.section(section).fields;
}

function sectionOf({ record, key, aliases = {}, csv: definition }: CsvDataset): CsvSection {
  const ofRecord = recordFields(record).map((own) => definition.fields.find(({ name }) => name === own.name) ?? own);
  const leading = LEADING_FIELDS.flatMap((name) => ofRecord.filter((field) => field.name === name));
  const fields = [...new Set([...leading, ...ofRecord, ...definition.fields])];
  const names = fields.flatMap(({ name }) => aliases[name] ?? []);
  const lastWords = names.map((name) => wordsOf(name.replace(/\p{N}/gu, '')).at(-1) ?? '');
  return { definition, key, fields, fieldsByName: indexByName(fields, aliases), lastWords: new Set(lastWords) };
}

/** The field that has a name, or is known by it. */
export const fieldNamed = ({ fieldsByName }: CsvSection, name: string): CsvField | undefined =>
  fieldsByName.get(columnKey(name));

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
