import type { Field } from './cells';
import { type CsvService, plainName } from './csv.service';
import { ImportFault } from './import-fault';
import { quoted } from './quoted';

/** How a CSV file is written and what its columns mean. */
export interface CsvForm {
  section: string;
  delimiter: string;
  mappings: Mapping[];
  /** cells are as they are, without a quote before a formula */
  raw: boolean;
}

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

/**
 * The columns of a file: those that --map names, and the others by the names of fields.
 * @throws ImportFault naming the columns without a field, or two columns of the same field
 */
export function columnsOf(csv: CsvService, { section, mappings }: CsvForm, heads: string[]): Column[] {
  const names = new Set(heads.map(plainName));
  const absent = mappings.find(({ column }) => !names.has(plainName(column)));
  if (absent) {
    throw new ImportFault(`--map: the file has no column ${quoted(absent.column)}; its columns are ${listed(heads)}`);
  }
  const fields = heads.map((head) => fieldsOf(csv, section, head, mappings));
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
  const order = csv.fields(section);
  return columns.sort((a, b) => order.indexOf(a.field) - order.indexOf(b.field));
}

/** Names that a message has room for. */
const MAX_LISTED = 10;

/** The first of the names, and how many more there are. */
function listed(names: string[]): string {
  const more = names.length - MAX_LISTED;
  return (
    names.slice(0, MAX_LISTED).map(quoted).join(', ') + (more > 0 ? ` and ${more.toLocaleString('en-US')} more` : '')
  );
}

/** Undefined when the column is unknown; empty when it is to be left out. */
function fieldsOf(csv: CsvService, section: string, head: string, mappings: Mapping[]): Field[] | undefined {
  const name = plainName(head);
  const named = mappings.filter(({ column }) => plainName(column) === name);
  if (named.length > 0) return named.flatMap(({ field }) => field ?? []);
  const field = csv.fieldNamed(section, head);
  return field && [field];
}
