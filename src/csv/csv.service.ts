import { Injectable } from '@nestjs/common';
import { classOf, type FieldSchema, schemasOf, type TextKind } from '../api/field-rules';
import {
  address,
  array,
  type Field,
  field,
  flag,
  identifier,
  type Kind,
  list,
  moment,
  text,
  whole,
} from './csv-values';
import { type Class, type CsvDataset, Datasets } from '../datasets/dataset';
import { normalizedName } from '../datasets/expected';

/** Columns that stand first. */
const FIRST = ['id', 'createdAt', 'updatedAt', 'createdBy'];

/** What the columns of a CSV file can be. */
@Injectable()
export class CsvService {
  /** the sections that are tables enough to be read and written as CSV */
  readonly sections: string[];
  private readonly known = new Map<string, { fields: Field[]; byName: Map<string, Field> }>();

  constructor(readonly datasets: Datasets) {
    this.sections = datasets.names.filter((section) => datasets.of(section).csv);
  }

  dataset = (section: string): CsvDataset => this.datasets.of(section).csv ?? { fields: [] };

  /** The fields of a section, in the order of an export: those of its record, and what its dataset says of them. */
  fields = (section: string): Field[] => this.of(section).fields;

  /** The fields by all names that say them, plainly written: `company` and `account name` are `company.name`. */
  byName = (section: string): Map<string, Field> => this.of(section).byName;

  fieldNamed = (section: string, name: string): Field | undefined => this.byName(section).get(normalizedName(name));

  private of(section: string) {
    const known = this.known.get(section);
    if (known) return known;
    const { fields: others, aliases = {} } = this.dataset(section);
    const own = ofRecord(this.datasets.of(section).record).map(
      (each) => others.find(({ name }) => name === each.name) ?? each,
    );
    const first = FIRST.flatMap((name) => own.filter((each) => each.name === name));
    const fields = [...new Set([...first, ...own, ...others])];
    const named = (namesOf: (field: Field) => string[]) =>
      fields.flatMap((each) => namesOf(each).map((name) => [normalizedName(name), each] as const));
    const byName = new Map([
      ...named(({ name }) => aliases[name] ?? []),
      ...named(({ name }) => (name.endsWith('.name') ? [name.replace(/\.name$/, '')] : [])),
      ...named(({ name }) => [name]),
    ]);
    this.known.set(section, { fields, byName });
    return { fields, byName };
  }
}

function ofRecord(record: Class, before = ''): Field[] {
  return [...schemasOf(record)].flatMap(([name, schema]) => {
    const inner = classOf(schema);
    if (inner && !schema.isArray) return ofRecord(inner, `${before}${name}.`);
    return field(`${before}${name}`, kindOf(schema), schema.nullable ? null : undefined);
  });
}

const texts = list(
  (part) => part,
  (item) => item,
);
const KINDS: Record<string, Kind> = { integer: whole, boolean: flag, array: texts };
const TEXT_KINDS: Record<TextKind, Kind> = {
  uuid: identifier,
  date: identifier,
  time: identifier,
  'date-time': moment,
  email: address,
  text,
};

function kindOf(schema: FieldSchema): Kind {
  if (classOf(schema)) return array;
  return KINDS[String(schema.type)] ?? TEXT_KINDS[schema.kind];
}
