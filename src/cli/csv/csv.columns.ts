import { ImportFault } from '../import/import-fault';
import { quoted, UsageError } from '../terminal/terminal';
import type { Field } from '../../dataset/cells';
import type { SectionName } from '../import/sections';
import { CSV_FIELDS } from './csv.fields';

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
  const absent = mappings.find(({ column }) => !heads.some((head) => isSame(column, head)));
  if (absent) {
    const columns = heads.map(quoted).join(', ');
    throw new ImportFault(`--map: the file has no column ${quoted(absent.column)}; its columns are ${columns}`);
  }
  const fields = heads.map((head) => fieldsOf(section, head, mappings));
  const unknown = heads.filter((head, index) => head.trim() !== '' && fields[index] === undefined).map(quoted);
  if (unknown.length > 0) {
    throw new ImportFault(
      `unknown columns: ${unknown.join(', ')}; name their fields with --map "COLUMN=FIELD", leave one out with ` +
        '--map "COLUMN=", or give another --delimiter',
    );
  }
  const columns = heads.flatMap((head, index) => (fields[index] ?? []).map((field) => ({ head, index, field })));
  for (const { head, index, field } of columns) {
    const other = columns.find((column) => column.field === field && column.index !== index);
    if (other) throw new ImportFault(`columns ${quoted(head)} and ${quoted(other.head)} are both ${field.name}`);
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

/** Undefined when the column is unknown; empty when it is to be left out. */
function fieldsOf(section: SectionName, head: string, mappings: Mapping[]): Field[] | undefined {
  const named = mappings.filter(({ column }) => isSame(column, head));
  if (named.length > 0) return named.flatMap(({ field }) => field ?? []);
  const field = fieldNamed(section, head);
  return field && [field];
}

const fieldNamed = (section: SectionName, name: string): Field | undefined =>
  CSV_FIELDS[section].find((field) => isSame(field.name, name) || isSame(field.name.replace(/\.name$/, ''), name));

/** Names are compared by letters and digits, if they have any: `First name` is `firstName`. */
const isSame = (one: string, other: string): boolean => plainName(one) === plainName(other);

const plainName = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '') || name.trim();
