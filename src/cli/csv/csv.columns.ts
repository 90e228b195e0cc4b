import { CSV_FIELDS, CsvSection, Field } from './csv.fields';
import { ImportFault } from '../import/import-fault';
import { quoted } from '../terminal/quoted';
import { UsageError } from '../terminal/terminal';

/** `--map COLUMN=FIELD`; an undefined field leaves the column out. */
export interface Mapping {
  column: string;
  field: Field | undefined;
}

/** A column of a table: its head, and the field that it holds. */
export interface Column {
  head: string;
  /** place in a row, from 0 */
  index: number;
  field: Field;
}

/** @throws UsageError when an entry is not COLUMN=FIELD, or names no field of the section */
export function mappingsOf(section: CsvSection, entries: string[]): Mapping[] {
  return entries.map((entry) => {
    const equals = entry.lastIndexOf('=');
    const [column, name] = [entry.slice(0, Math.max(0, equals)).trim(), entry.slice(equals + 1).trim()];
    if (column === '') throw new UsageError(`--map must be COLUMN=FIELD, as in --map "E-mail=email"`);
    const field = fieldNamed(section, name);
    if (field || name === '') return { column, field };
    const meant = alike(section, name);
    throw new UsageError(`--map: ${section} have no field ${name}${meant ? ` (${meant}?)` : ''}`);
  });
}

/**
 * The columns of a file by its heads: those that --map names, and all others by the names of fields, of which letters
 * and digits alone count (`First name` is `firstName`).
 * @throws ImportFault naming every head that means nothing, or that what another one means
 */
export function columnsOf(section: CsvSection, heads: string[], mappings: Mapping[]): Column[] {
  for (const { column } of mappings) {
    if (!heads.some((head) => isSame(head, column))) {
      throw new ImportFault(
        `--map: the file has no column ${quoted(column)}; its columns are ${heads.map(quoted).join(', ')}`,
      );
    }
  }
  const meant = heads.map((head) => fieldsOf(section, head, mappings));
  const unknown = heads.filter((head, index) => head.trim() !== '' && meant[index] === undefined);
  if (unknown.length > 0) throw new ImportFault(unknownColumns(section, unknown, heads));
  const columns = heads.flatMap((head, index) => (meant[index] ?? []).map((field) => ({ head, index, field })));
  for (const { head, index, field } of columns) {
    const other = columns.find((column) => column.field === field && column.index !== index);
    if (other) throw new ImportFault(`columns ${quoted(head)} and ${quoted(other.head)} are both ${field.name}`);
  }
  if (columns.length === 0) throw new ImportFault('no column of the file is to be read');
  // What a field puts in its place may stand on what fields before it have put there.
  const order: readonly Field[] = CSV_FIELDS[section];
  return columns.sort((a, b) => order.indexOf(a.field) - order.indexOf(b.field));
}

/** The columns of an export: what --map names, in its order, or every field that loses nothing. */
export function exportedColumns(section: CsvSection, mappings: Mapping[]): { head: string; field: Written }[] {
  const fields = CSV_FIELDS[section].filter(isWritten);
  if (mappings.length === 0) return fields.map((field) => ({ head: field.name, field }));
  return mappings.map(({ column, field }) => {
    if (field && isWritten(field)) return { head: column, field };
    throw new UsageError(`--map: ${field?.name ?? 'nothing'} cannot be written; ${section} have ${namesOf(fields)}`);
  });
}

type Written = Required<Pick<Field, 'name' | 'take'>>;
const isWritten = (field: Field): field is Field & Written => field.take !== undefined;

/** Undefined when nobody said what the column means; none when it is to be left out. */
function fieldsOf(section: CsvSection, head: string, mappings: Mapping[]): Field[] | undefined {
  const named = mappings.filter(({ column }) => isSame(head, column));
  if (named.length > 0) return named.flatMap(({ field }) => field ?? []);
  const field = head.trim() === '' ? undefined : fieldNamed(section, head);
  return field && [field];
}

const plainName = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

const isSame = (head: string, column: string): boolean =>
  head.trim() === column || (plainName(head) !== '' && plainName(head) === plainName(column));

/** `company` is `company.name`. */
const namesFor = ({ name }: Field): string[] => [name, ...(name.endsWith('.name') ? [name.slice(0, -5)] : [])];

function fieldNamed(section: CsvSection, name: string): Field | undefined {
  const fields: readonly Field[] = CSV_FIELDS[section];
  return fields.find((field) => namesFor(field).some((known) => plainName(known) === plainName(name)));
}

function unknownColumns(section: CsvSection, unknown: string[], heads: string[]): string {
  const [delimiter, name] = [
    [';', '";"'],
    ['\t', 'tab'],
    [',', '","'],
  ].find(([candidate = '']) => heads.length === 1 && heads[0]?.includes(candidate)) ?? [''];
  if (delimiter) return `the file has one column, ${quoted(heads[0] ?? '')}: is it parted by --delimiter ${name}?`;
  const mapped = (head: string, field: string): string => `--map "${canBeTyped(head) ? head : 'COLUMN'}=${field}"`;
  const maps = unknown.map((head) => mapped(head, alike(section, head) ?? 'FIELD'));
  return `unknown column${unknown.length > 1 ? 's' : ''} ${unknown.map(quoted).join(', ')}; say what it holds, as in ${maps.join(' ')}, or leave it out: ${mapped(unknown[0] ?? '', '')}`;
}

/** Whether a shell takes the name for what it is, in double quotes, as a message can show it. */
const canBeTyped = (head: string): boolean => quoted(head) === `"${head}"` && !/[$`!]/.test(head);

/** Names that are less alike than this are not meant. */
const ALIKE = 0.4;

/** The name of the field whose name is most like another one; undefined when none is. */
function alike(section: CsvSection, name: string): string | undefined {
  const [best] = CSV_FIELDS[section]
    .map((field) => ({ field, likeness: likeness(plainName(field.name), plainName(name)) }))
    .sort((a, b) => b.likeness - a.likeness);
  return best && best.likeness >= ALIKE ? best.field.name : undefined;
}

/** The Sørensen–Dice coefficient of two texts' pairs of letters: 0 when they share none, 1 when all. */
function likeness(one: string, other: string): number {
  const [pairs, others] = [pairsOf(one), pairsOf(other)];
  const shared = [...pairs].filter((pair) => others.has(pair)).length;
  return (2 * shared) / (pairs.size + others.size || 1);
}

const pairsOf = (text: string): Set<string> =>
  new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2)));

const namesOf = (fields: readonly Written[]): string => fields.map(({ name }) => name).join(', ');
