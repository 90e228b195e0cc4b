import { array, type Field, field, flag, type Kind, list, text, whole } from '../../dataset/cells';
import { classOf, type FieldSchema, fieldsOf, type RecordClass } from '../../dataset/dataset';
import { DATASETS, SectionName, SECTIONS } from '../import/sections';

/** The sections that are tables enough to be read and written as CSV. */
export const CSV_SECTIONS = SECTIONS.filter((section) => DATASETS[section].csv);

/** Columns that stand first. */
const FIRST = ['id', 'createdAt', 'updatedAt', 'createdBy'];

/** The fields of a section, in the order of an export: those of its record, and what its dataset says of them. */
function fieldsOfSection(section: SectionName): Field[] {
  const { record, csv } = DATASETS[section];
  const fields = csv?.fields ?? [];
  const own = ofRecord(record).map((each) => fields.find(({ name }) => name === each.name) ?? each);
  const first = FIRST.flatMap((name) => own.filter((each) => each.name === name));
  return [...new Set([...first, ...own, ...fields])];
}

function ofRecord(record: RecordClass, before = ''): Field[] {
  return [...fieldsOf(record)].flatMap(([name, schema]) => {
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
  const [key = '', ...others] = fieldsOf(entry).keys();
  const item = (part: string) => ({ [key]: part });
  // One text says all of an entry, or says enough, or is not enough.
  if (others.some((name) => fieldsOf(entry).get(name)?.required)) return array;
  return others.length > 0 ? list(item) : list(item, (value) => (value as Record<string, unknown>)[key]);
}

/** The fields of each. */
export const CSV_FIELDS = Object.fromEntries(
  CSV_SECTIONS.map((section) => [section, fieldsOfSection(section)]),
) as Record<SectionName, Field[]>;
