import { Injectable } from '@nestjs/common';
import { type Class, classOf, type FieldSchema, schemasOf, type TextKind } from '../fields/field-rules';
import { Datasets } from '../datasets/dataset';
import { columnKey } from './column-mappings';
import { csvField, type CsvField } from './csv-fields';
import { type CsvDefinition, hasCsv } from './csv-section';
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

interface SectionFields {
  fields: CsvField[];
  byName: Map<string, CsvField>;
  lastWords: Set<string>;
}

/** Knows which columns a CSV file may have. */
@Injectable()
export class CsvService {
  /** The sections that can be read and written as CSV. */
  readonly sections: string[];
  private readonly fieldsBySection = new Map<string, SectionFields>();

  constructor(readonly datasets: Datasets) {
    this.sections = datasets.names.filter((section) => hasCsv(datasets.of(section)));
  }

  definition(section: string): CsvDefinition {
    const dataset = this.datasets.of(section);
    return hasCsv(dataset) ? dataset.csv : { fields: [] };
  }

  /** The name of the field that identifies a record. */
  keyOf = (section: string): string => this.datasets.of(section).key;

  /** The fields of a section in the order of an export. */
  fields = (section: string): CsvField[] => this.sectionFields(section).fields;

  /** The fields by all their normalized names: `company` and `accountname` are `company.name`. */
  fieldsByName = (section: string): Map<string, CsvField> => this.sectionFields(section).byName;

  /** The words with which names of columns end, such as `address`. */
  lastWords = (section: string): Set<string> => this.sectionFields(section).lastWords;

  fieldNamed = (section: string, name: string): CsvField | undefined => this.fieldsByName(section).get(columnKey(name));

  private sectionFields(section: string): SectionFields {
    const known = this.fieldsBySection.get(section);
    if (known) return known;
    const { record, aliases = {} } = this.datasets.of(section);
    const defined = this.definition(section).fields;
    const ofRecord = recordFields(record).map((own) => defined.find(({ name }) => name === own.name) ?? own);
    const leading = LEADING_FIELDS.flatMap((name) => ofRecord.filter((field) => field.name === name));
    const fields = [...new Set([...leading, ...ofRecord, ...defined])];
    const names = fields.flatMap(({ name }) => aliases[name] ?? []);
    const lastWords = new Set(
      names.map(
        (name) =>
          name
            .toLowerCase()
            .match(/\p{L}+/gu)
            ?.at(-1) ?? '',
      ),
    );
    const sectionFields = { fields, byName: indexByName(fields, aliases), lastWords };
    this.fieldsBySection.set(section, sectionFields);
    return sectionFields;
  }
}

/** A field's own name wins over short names, and these win over aliases. */
function indexByName(fields: CsvField[], aliases: Record<string, string[]>): Map<string, CsvField> {
  const byName = new Map<string, CsvField>();
  const add = (namesOf: (field: CsvField) => string[]): void => {
    for (const field of fields) {
      for (const name of namesOf(field)) byName.set(columnKey(name), field);
    }
  };
  add(({ name }) => aliases[name] ?? []);
  add(({ name }) => (name.endsWith('.name') ? [name.replace(/\.name$/, '')] : []));
  add(({ name }) => [name]);
  return byName;
}

/** The fields of a record, with those of its objects listed one by one. */
function recordFields(record: Class, prefix = ''): CsvField[] {
  return [...schemasOf(record)].flatMap(([name, schema]) => {
    const inner = classOf(schema);
    if (inner && !schema.isArray) return recordFields(inner, `${prefix}${name}.`);
    return csvField(`${prefix}${name}`, valueTypeOf(schema), schema.nullable ? null : undefined);
  });
}

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
