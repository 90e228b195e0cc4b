import type { Field } from './csv-values';
import type { CsvService } from './csv.service';
import { type CsvMatch } from '../datasets/dataset';
import { closestName, normalizedName } from '../datasets/expected';
import { type Faults, NOWHERE, refusal } from '../datasets/faults';
import type { Clock } from './date-times';
import { quoted } from '../datasets/quoted';

/** How a CSV file is written and what its columns mean. */
export interface CsvForm {
  section: string;
  /** of an export a comma, of a file what its first lines say */
  delimiter?: string;
  mappings: Mapping[];
  /** cells are as they are, without a quote before a formula */
  raw: boolean;
  skipLines: number;
  encoding?: string;
  ignoreUnknown: boolean;
  clock: Clock;
  /** the event of every lead of the file */
  event?: string;
  /** by which key rows are those that are stored; undefined is by id */
  match?: string;
  /** which row counts of those of one key */
  repeated?: 'first' | 'last';
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
  /** undefined where it is left out */
  field: Field | undefined;
}

/** Names that a message has room for. */
const MAX_LISTED = 10;

/** The first of the names, and how many more there are. */
function listed(names: string[]): string {
  const more = names.length - MAX_LISTED;
  return names.slice(0, MAX_LISTED).map(quoted).join(', ') + (more > 0 ? ` and ${counted(more)} more` : '');
}

const counted = (count: number): string => count.toLocaleString('en-US');

/**
 * The columns of a file that have names: those that --map names, and the others by the names of fields.
 * @param faults are given the columns without a field
 */
export function columnsOf(csv: CsvService, form: CsvForm, heads: string[], line: number, faults: Faults): Column[] {
  const { section, mappings, ignoreUnknown } = form;
  const times = new Map<string, number>();
  const isUsed = new Set<Mapping>();
  const unknown: string[] = [];
  const columns: Column[] = [];
  for (const [index, head] of heads.entries()) {
    if (head.trim() === '') continue;
    const plain = normalizedName(head);
    const nth = (times.get(plain) ?? 0) + 1;
    times.set(plain, nth);
    const mapped = mappingsOf(mappings, head, plain, nth);
    for (const mapping of mapped) isUsed.add(mapping);
    const known = csv.byName(section).get(plain);
    if (mapped.length > 0) columns.push(...mapped.map(({ field }) => ({ head, index, field })));
    else if (known) columns.push({ head, index, field: known });
    else if (ignoreUnknown) columns.push({ head, index, field: undefined });
    else unknown.push(head);
  }
  addUnknown(csv, section, unknown, line, faults);
  const absent = mappings.find((mapping) => !isUsed.has(mapping));
  if (absent) {
    const reason = `--map: the file has no column ${quoted(absent.column)}; its columns are ${listed(heads)}`;
    faults.add({ ...NOWHERE, wanted: 'a column of the file', says: reason });
  }
  if (unknown.length === 0 && !columns.some(({ field }) => field)) {
    throw refusal('all columns of the file are left out');
  }
  addClashes(columns, line, faults);
  return columns;
}

/** The mappings of a column, of which one that names it alone (`Phone#2`) stands for it before the others. */
function mappingsOf(mappings: Mapping[], head: string, plain: string, nth: number): Mapping[] {
  if (mappings.length === 0) return mappings;
  const exact = mappings.filter(({ column }) => column === head.trim() && /#\d+$/.test(column));
  if (exact.length > 0) return exact;
  const named = mappings.filter(({ column }) => {
    const [, base = '', place] = /^(.+)#(\d+)$/.exec(column) ?? [];
    return Number(place) === nth && normalizedName(base) === plain;
  });
  if (named.length > 0) return named;
  return mappings.filter(({ column }) => !/#\d+$/.test(column) && normalizedName(column) === plain);
}

function addUnknown(csv: CsvService, section: string, unknown: string[], line: number, faults: Faults): void {
  const names = [...csv.byName(section)].map(([plain, { name }]): [string, string] => [plain, name]);
  const told = unknown.slice(0, MAX_LISTED).map((head) => {
    const field = closestName(head, names);
    const guess = field ? `; did you mean ${field}?` : ';';
    const how = `say --map ${quoted(`${head}=${field ?? 'FIELD'}`)}, or leave it out with --map ${quoted(`${head}=`)}`;
    const says = `not a field of ${section}${guess} ${how}, or all such columns with --ignore-unknown`;
    return { ...NOWHERE, line, column: head, wanted: field ?? 'a field, by --map', says };
  });
  faults.addColumns(told, unknown.length - told.length);
}

/** A column of both names, beside one of them. */
function addClashes(columns: Column[], line: number, faults: Faults): void {
  for (const { head, field } of columns) {
    const { name, changes = [], merge } = field ?? {};
    const other =
      merge || changes.length < 2 ? undefined : columns.find((each) => changes.includes(each.field?.name ?? ''));
    if (!other) continue;
    const says = `is ${name}, which says ${changes.join(' and ')}; so does the column ${quoted(other.head)}`;
    faults.add({ ...NOWHERE, line, column: head, path: name ?? null, wanted: 'one of them', says });
  }
}

/**
 * The column with the key by which rows are matched.
 * @throws ImportFault where the file has none, or several
 */
export function keyOf(columns: Column[], name: string, { fields }: CsvMatch): Column {
  const all = columns.filter(({ field }) => field && fields.test(field.name));
  const kinds = new Set(all.map(({ field }) => field));
  if (all[0] && kinds.size === 1) return all[0];
  const has = kinds.size === 0 ? 'no column' : `columns of ${kinds.size} external systems`;
  throw refusal(`--match ${name} needs one column of ${kinds.size === 0 ? name : 'one system'}; the file has ${has}`);
}
