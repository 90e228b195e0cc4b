import { closestName, normalizedName } from '../datasets/closest-name';
import { importError, type IssueCollector, type LocatedIssue, NO_LOCATION } from '../datasets/import-error';
import { quote } from '../datasets/quote';
import type { CsvField } from './csv-fields';
import type { CsvMatch } from './csv-section';
import type { CsvService } from './csv.service';
import type { DateTimeOptions } from './date-times';

/** How a CSV file is written, and what its columns and rows mean. */
export interface CsvFormat {
  section: string;
  /** By default a comma in an export, and what the first lines of the file tell in an import. */
  delimiter?: string;
  mappings: ColumnMapping[];
  /** Whether cells that a spreadsheet would run as formulas have no apostrophe before them. */
  raw: boolean;
  /** How many lines to skip before the header. */
  skipLines: number;
  encoding?: string;
  /** Whether to skip columns that are no fields. */
  ignoreUnknown: boolean;
  dateTimes: DateTimeOptions;
  optionValues: OptionValue[];
  /** What rows are matched with stored records by; the key of the dataset if undefined. */
  match?: string;
  /** Which of several rows for the same record to keep; such rows are an error if undefined. */
  onDuplicate?: 'keepFirst' | 'keepLast';
}

/** `--map COLUMN=FIELD`. The column is skipped if the field is undefined. */
export interface ColumnMapping {
  column: string;
  field: CsvField | undefined;
}

/** A value that an option of the command gives to a field in every row. */
export interface OptionValue {
  option: string;
  field: CsvField;
  value: string;
}

/** A column of a file. */
export interface CsvColumn {
  /** Its name in the header. */
  name: string;
  /** Zero-based index of its cells in a row. */
  index: number;
  /** The field that it fills; undefined if it is skipped. */
  field: CsvField | undefined;
}

/** How many names a message lists. */
const MAX_LISTED = 10;

/** The first of the names in quotes, and how many more there are. */
function listNames(names: string[]): string {
  const listed = names.slice(0, MAX_LISTED).map(quote).join(', ');
  const moreCount = names.length - MAX_LISTED;
  return moreCount > 0 ? `${listed} and ${moreCount.toLocaleString('en-US')} more` : listed;
}

/**
 * Assigns the columns of a file to fields: first by `--map`, then by the names of fields. Columns without a name are left out.
 * @param line of the header
 * @throws ImportError if no column would be imported
 */
export function assignColumns(
  csv: CsvService,
  format: CsvFormat,
  header: string[],
  line: number,
  issues: IssueCollector,
): CsvColumn[] {
  const { section, mappings, ignoreUnknown } = format;
  const fieldsByName = csv.fieldsByName(section);
  const timesSeen = new Map<string, number>();
  const used = new Set<ColumnMapping>();
  const unknown: string[] = [];
  const columns: CsvColumn[] = [];
  for (const [index, name] of header.entries()) {
    if (name.trim() === '') continue;
    const normalized = normalizedName(name);
    const nth = (timesSeen.get(normalized) ?? 0) + 1;
    timesSeen.set(normalized, nth);
    const columnMappings = mappingsOf(mappings, name, normalized, nth);
    for (const mapping of columnMappings) {
      used.add(mapping);
      columns.push({ name, index, field: mapping.field });
    }
    if (columnMappings.length > 0) continue;
    const field = fieldsByName.get(normalized);
    if (field || ignoreUnknown) columns.push({ name, index, field });
    else unknown.push(name);
  }
  reportUnknownColumns(fieldsByName, unknown, line, issues);
  const unused = mappings.find((mapping) => !used.has(mapping));
  if (unused) reportUnusedMapping(unused, header, issues);
  if (unknown.length === 0 && !columns.some(({ field }) => field)) throw importError('No column would be imported.');
  reportConflictingColumns(columns, line, issues);
  return columns;
}

/**
 * The mappings of a column. One that names it alone, such as `Phone#2`, wins over those that name all columns of a name.
 * @param nth how many columns of the name there are up to this one
 */
function mappingsOf(mappings: ColumnMapping[], name: string, normalized: string, nth: number): ColumnMapping[] {
  if (mappings.length === 0) return mappings;
  const exact = mappings.filter(({ column }) => column === name.trim() && /#\d+$/.test(column));
  if (exact.length > 0) return exact;
  const numbered = mappings.filter(({ column }) => {
    const [, base = '', number] = /^(.+)#(\d+)$/.exec(column) ?? [];
    return Number(number) === nth && normalizedName(base) === normalized;
  });
  if (numbered.length > 0) return numbered;
  return mappings.filter(({ column }) => !/#\d+$/.test(column) && normalizedName(column) === normalized);
}

function reportUnknownColumns(
  fieldsByName: Map<string, CsvField>,
  unknown: string[],
  line: number,
  issues: IssueCollector,
): void {
  const names = [...fieldsByName].map(([normalized, { name }]): [string, string] => [normalized, name]);
  const reported = unknown.slice(0, MAX_LISTED).map((column): LocatedIssue => {
    const suggestion = closestName(column, names);
    const question = suggestion ? ` Did you mean ${suggestion}?` : '';
    const map = `Map it with --map ${quote(`${column}=${suggestion ?? 'FIELD'}`)}`;
    const skip = `skip it with --map ${quote(`${column}=`)}`;
    const message = `Unknown column.${question} ${map}, ${skip}, or skip all unknown columns with --ignore-unknown.`;
    return { ...NO_LOCATION, line, column, expected: suggestion ?? 'the name of a field', message };
  });
  issues.setColumnIssues(reported, unknown.length - reported.length);
}

function reportUnusedMapping({ column }: ColumnMapping, header: string[], issues: IssueCollector): void {
  const message = `--map: The file has no column ${quote(column)}. Its columns are ${listNames(header)}.`;
  issues.add({ ...NO_LOCATION, expected: 'a column of the file', message });
}

/** Reports a column that fills several fields, such as a whole name, beside a column of one of these fields. */
function reportConflictingColumns(columns: CsvColumn[], line: number, issues: IssueCollector): void {
  for (const { name, field } of columns) {
    const { paths = [], mergeSql } = field ?? {};
    if (mergeSql || paths.length < 2) continue;
    const other = columns.find((each) => paths.includes(each.field?.name ?? ''));
    if (!other) continue;
    const fills = `Fills ${paths.join(' and ')}, but ${quote(other.name)} fills ${other.field?.name}, too.`;
    const message = `${fills} Skip one of them, for example with --map ${quote(`${name}=`)}.`;
    issues.add({ ...NO_LOCATION, line, column: name, path: field?.name ?? null, expected: 'one of them', message });
  }
}

/**
 * The column by which rows are matched with stored records.
 * @throws ImportError if the file has none, or columns of several fields
 */
export function findMatchColumn(columns: CsvColumn[], name: string, { fieldNames }: CsvMatch): CsvColumn {
  const matching = columns.filter(({ field }) => field && fieldNames.test(field.name));
  const fields = [...new Set(matching.map(({ field }) => field?.name))];
  if (matching[0] && fields.length === 1) return matching[0];
  if (fields.length === 0) throw importError(`--match ${name} needs a column of ${name}, but the file has none.`);
  throw importError(`--match ${name} needs exactly one of these columns, but the file has ${fields.join(' and ')}.`);
}
