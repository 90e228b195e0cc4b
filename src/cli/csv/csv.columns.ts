import { ImportFault } from '../import/import-fault';
import { quoted, UsageError } from '../terminal/terminal';
import type { Field } from '../../dataset/cells';
import type { SectionName } from '../import/sections';
import { CSV_FIELDS, CSV_SECTIONS } from './csv.fields';
import { figure } from '../terminal/table';

/** `--map COLUMN=FIELD`; an undefined field leaves the column out. */
export interface Mapping {
  column: string;
  field: Field | undefined;
}

/** A column of a table. */
export interface Column {
  head: string;
  /** place in a row, from 0 */
  index: number;
  field: Field;
}

/** @throws UsageError when an entry is not COLUMN=FIELD, or names no field of the section */
export function mappingsOf(section: SectionName, entries: string[]): Mapping[] {
  return entries.map((entry) => {
    const equals = entry.lastIndexOf('=');
    const [column, name] = [entry.slice(0, Math.max(0, equals)).trim(), entry.slice(equals + 1).trim()];
    if (column === '') throw new UsageError('--map must be COLUMN=FIELD, as in --map "E-mail=email"');
    const field = fieldNamed(section, name);
    if (field || name === '') return { column, field };
    throw new UsageError(`--map: ${section} have no field ${name}; import --help lists the fields`);
  });
}

/**
 * The columns of a file: those that --map names, and the others by the names of fields.
 * @throws ImportFault naming the columns without a field, or two columns of the same field
 */
export function columnsOf(section: SectionName, heads: string[], mappings: Mapping[]): Column[] {
  const names = new Set(heads.map(plainName));
  const absent = mappings.find(({ column }) => !names.has(plainName(column)));
  if (absent) {
    throw new ImportFault(`--map: the file has no column ${quoted(absent.column)}; its columns are ${listed(heads)}`);
  }
  const fields = heads.map((head) => fieldsOf(section, head, mappings));
  const unknown = heads.filter((head, index) => head.trim() !== '' && fields[index] === undefined);
  if (unknown.length > 0) {
    throw new ImportFault(
      `unknown columns: ${listed(unknown)}; name their fields with --map "COLUMN=FIELD", leave one out with ` +
        '--map "COLUMN=", or give another --delimiter',
    );
  }
  const columns = heads.flatMap((head, index) => (fields[index] ?? []).map((field) => ({ head, index, field })));
  const heading = new Map<Field, Column>();
  for (const column of columns) {
    const other = heading.get(column.field);
    if (!other) heading.set(column.field, column);
    else if (other.index !== column.index) {
      throw new ImportFault(`columns ${quoted(other.head)} and ${quoted(column.head)} are both ${column.field.name}`);
    }
  }
  if (columns.length === 0) throw new ImportFault('all columns of the file are left out');
  // A field may build on what earlier fields have put into the record.
  const order = CSV_FIELDS[section];
  return columns.sort((a, b) => order.indexOf(a.field) - order.indexOf(b.field));
}

/** The columns of an export: those that --map names, in its order, or every field that loses nothing. */
export function exportedColumns(section: SectionName, mappings: Mapping[]): { head: string; field: Field }[] {
  const all = CSV_FIELDS[section].filter(({ take }) => take).map((field) => ({ head: field.name, field }));
  if (mappings.length === 0) return all;
  return mappings.map(({ column, field }) => {
    if (field?.take) return { head: column, field };
    throw new UsageError(`--map: column ${quoted(column)} needs a field that can be exported`);
  });
}

/** Names that a message has room for. */
const MAX_LISTED = 10;

/** The first of the names, and how many more there are. */
function listed(names: string[]): string {
  const more = names.length - MAX_LISTED;
  return names.slice(0, MAX_LISTED).map(quoted).join(', ') + (more > 0 ? ` and ${figure(more)} more` : '');
}

/** Undefined when the column is unknown; empty when it is to be left out. */
function fieldsOf(section: SectionName, head: string, mappings: Mapping[]): Field[] | undefined {
  const name = plainName(head);
  const named = mappings.filter(({ column }) => plainName(column) === name);
  if (named.length > 0) return named.flatMap(({ field }) => field ?? []);
  const field = fieldNamed(section, head);
  return field && [field];
}

/** By plain names, of which a field of an object's name has two: `company` is `company.name`. */
const FIELDS_BY_NAME = Object.fromEntries(
  CSV_SECTIONS.map((section) => {
    const named = (nameOf: (field: Field) => string) =>
      CSV_FIELDS[section].map((field) => [plainName(nameOf(field)), field] as const);
    return [section, new Map([...named(({ name }) => name.replace(/\.name$/, '')), ...named(({ name }) => name)])];
  }),
) as Record<SectionName, Map<string, Field>>;

const fieldNamed = (section: SectionName, name: string): Field | undefined =>
  FIELDS_BY_NAME[section].get(plainName(name));

/** Names are compared by letters and digits, if they have any: `First name` is `firstName`. */
function plainName(name: string): string {
  const plain = name.normalize('NFKD').toLowerCase();
  return plain.replace(/[^\p{L}\p{N}]/gu, '') || name.trim();
}
