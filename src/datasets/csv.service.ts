import { Injectable } from '@nestjs/common';
import { classOf, type FieldSchema, schemasOf } from '../api-schema/fields';
import { array, type Field, field, flag, type Kind, list, text, whole } from './cells';
import { type Class, Datasets } from './dataset';

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

  /** The fields of a section, in the order of an export: those of its record, and what its dataset says of them. */
  fields = (section: string): Field[] => this.of(section).fields;

  /** The field of a name, or of one that says the same: `Company` is `company.name`. */
  fieldNamed = (section: string, name: string): Field | undefined => this.of(section).byName.get(plainName(name));

  private of(section: string) {
    const known = this.known.get(section);
    if (known) return known;
    const { record, csv } = this.datasets.of(section);
    const others = csv?.fields ?? [];
    const own = ofRecord(record).map((each) => others.find(({ name }) => name === each.name) ?? each);
    const first = FIRST.flatMap((name) => own.filter((each) => each.name === name));
    const fields = [...new Set([...first, ...own, ...others])];
    const named = (nameOf: (field: Field) => string) => fields.map((each) => [plainName(nameOf(each)), each] as const);
    const byName = new Map([...named(({ name }) => name.replace(/\.name$/, '')), ...named(({ name }) => name)]);
    this.known.set(section, { fields, byName });
    return { fields, byName };
  }
}

/** Names are compared by letters and digits, if they have any: `First name` is `firstName`. */
export function plainName(name: string): string {
  const plain = name.normalize('NFKD').toLowerCase();
  return plain.replace(/[^\p{L}\p{N}]/gu, '') || name.trim();
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

function kindOf(schema: FieldSchema): Kind {
  const entry = classOf(schema);
  if (!entry) return KINDS[String(schema.type)] ?? text;
  const [[key = ''] = [], ...others] = schemasOf(entry);
  const item = (part: string) => ({ [key]: part });
  // One text says all of an entry, or says enough, or is not enough.
  if (others.some(([, { required }]) => required)) return array;
  return others.length > 0 ? list(item) : list(item, (value) => (value as Record<string, unknown>)[key]);
}
