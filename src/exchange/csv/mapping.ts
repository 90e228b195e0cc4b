import { encodingExists } from 'iconv-lite';
import { isObject } from '../../fields/field-rules';
import { type IssueCollector, NO_LOCATION } from '../datasets/import-error';
import { quote } from '../datasets/quote';
import { isTypingError } from '../datasets/similar-names';
import type { CsvField } from './csv-fields';
import { columnKey, type CsvSection, type CsvService, fieldNamed } from './csv.service';

/** How a CSV file is read, and nothing else. It is JSON that the program proposes and a person edits. */
export interface Mapping {
  section: string;
  /** By default UTF-8, or what a byte order mark says. */
  encoding?: string;
  /** By default what `sep=` says, or else a comma. */
  delimiter?: string;
  /** The line of the names of the columns; by default the first one, or the one after `sep=;`. */
  headerLine?: number;
  /** The last line that is read. */
  lastLine?: number;
  /** Lines between them that are not read. */
  skipLines?: number[];
  /** Of date-times that have none; by default UTC. */
  timeZone?: string;
  /** Whether cells that look like a formula are kept as they are. */
  raw?: boolean;
  /** Whether an empty cell empties its field; by default it changes nothing. */
  emptyCells?: 'keep' | 'clear';
  columns: MappedColumn[];
  /** Whether columns that the mapping does not name are left out; by default they are errors. */
  otherColumns?: 'ignore';
}

interface MappedColumn {
  column: string;
  /** Null if the column is left out. */
  field: string | null;
  format?: string;
  /** The values of the rows that are imported. */
  only?: string[];
}

/** The mapping has an error, which the message names with its place. */
export class MappingError extends Error {}

/** What a value must be, in words, and whether it is so. */
type Rule = [expected: string, isValid: (value: never) => boolean];

const isLine = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;
const isText = (value: unknown): boolean => typeof value === 'string';
const isListOf = (value: unknown, isEntry: (entry: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isEntry);

function isTimeZone(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  try {
    return Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const LINE_EXPECTED = 'the number of a line, from 1';

const RULES: Record<keyof Mapping, Rule> = {
  section: ['the name of a section', isText],
  encoding: [
    'the name of an encoding, such as windows-1252',
    (value: string) => isText(value) && encodingExists(value),
  ],
  delimiter: ['one character', (value: string) => isText(value) && value.length === 1 && !/["\r\n]/.test(value)],
  headerLine: [LINE_EXPECTED, isLine],
  lastLine: [LINE_EXPECTED, isLine],
  skipLines: ['a list of numbers of lines', (value) => isListOf(value, isLine)],
  timeZone: ['the name of a time zone, such as Europe/Berlin', isTimeZone],
  raw: ['true or false', (value) => typeof value === 'boolean'],
  emptyCells: ['"keep" or "clear"', (value) => ['keep', 'clear'].includes(value)],
  columns: ['a list of columns', (value) => isListOf(value, isObject)],
  otherColumns: ['"ignore"', (value) => value === 'ignore'],
};

const COLUMN_RULES: Record<keyof MappedColumn, Rule> = {
  column: ['the name of a column', isText],
  field: ['the name of a field, or null', (value) => value === null || isText(value)],
  format: ['a text', isText],
  only: ['a list of texts', (value) => isListOf(value, isText)],
};

/** @throws MappingError for a key that is unknown, missing or has a wrong value */
function requireKeys(value: object, rules: Record<string, Rule>, required: string[], place = ''): void {
  for (const [key, given] of Object.entries(value)) {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
    if (!rule) {
      const known = Object.keys(rules).join(', ');
      throw new MappingError(`${place}${quote(key)} is not a key of a mapping. Use one of: ${known}.`);
    }
    const [expected, isValid] = rule;
    if (!isValid(given as never)) throw new MappingError(`${place}${key} must be ${expected}.`);
  }
  const missing = required.find((key) => !Object.hasOwn(value, key));
  if (missing) throw new MappingError(`${place}${missing} is missing.`);
}

/**
 * Reads and checks the text of a mapping.
 * @throws MappingError
 */
export function parseMapping(text: string, csv: CsvService): Mapping {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new MappingError(`This is not JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw new MappingError('A mapping must be a JSON object.');
  requireKeys(value, RULES as Record<string, Rule>, ['section', 'columns']);
  const mapping = value as unknown as Mapping;
  if (!csv.sections.includes(mapping.section)) {
    throw new MappingError(`section must be one of: ${csv.sections.join(', ')}.`);
  }
  const section = csv.section(mapping.section);
  for (const [index, column] of mapping.columns.entries()) {
    requireColumn(column, section, `columns[${index}].`);
  }
  return mapping;
}

function requireColumn(column: MappedColumn, section: CsvSection, place: string): void {
  requireKeys(column, COLUMN_RULES as Record<string, Rule>, ['column', 'field'], place);
  const { field: name, format } = column;
  const field = fieldNamed(section, name);
  if (name !== null && !field) {
    const suggestion = suggestedField(section, name);
    const advice = suggestion ? `Did you mean ${suggestion}?` : '"import --help" lists the fields.';
    throw new MappingError(`${place}field: ${section.name} have no field ${quote(name)}. ${advice}`);
  }
  if (format === undefined || field?.formats?.includes(format)) return;
  const expected = field?.formats
    ? `one of: ${field.formats.join(', ')}`
    : 'left out, because the field has no formats';
  throw new MappingError(`${place}format must be ${expected}.`);
}

function suggestedField({ fieldsByName }: CsvSection, name: string): string | undefined {
  const key = columnKey(name);
  return (fieldsByName.get(key) ?? [...fieldsByName].find(([known]) => isTypingError(key, known))?.[1])?.name;
}

/** A column of a file. */
export interface CsvColumn {
  /** Its name in the header. */
  name: string;
  /** Zero-based index of its cells in a row. */
  index: number;
  /** The field that it fills; undefined if it is left out. */
  field: CsvField | undefined;
  format?: string;
  only?: ReadonlySet<string>;
  /** The text of all its cells, if it is no column of the file but an option of the command. */
  constant?: string;
  /** Whether the mapping does not name it. Of columns without a name, text in one is then an error. */
  isUnnamed?: boolean;
}

/**
 * Finds the columns of a mapping in a file by their names, the second of one name by being the second.
 * @param issues takes the columns that only one of the two has
 */
export function assignColumns(
  { columns: mapped, otherColumns }: Mapping,
  section: CsvSection,
  { names, line }: { names: readonly string[]; line: number },
  issues: IssueCollector,
): CsvColumn[] {
  const byName = new Map<string, MappedColumn[]>();
  for (const each of mapped) byName.set(each.column.trim(), [...(byName.get(each.column.trim()) ?? []), each]);
  const columns = names.map((given, index): CsvColumn => {
    const name = given.trim();
    const own = byName.get(name)?.shift();
    if (own) {
      const only = own.only && new Set(own.only.map((value) => value.trim()));
      return { name, index, field: fieldNamed(section, own.field), format: own.format, only };
    }
    if (name !== '' && otherColumns !== 'ignore') {
      const message = 'The mapping does not name this column. Add it with its field, or with null to leave it out.';
      issues.add({ ...NO_LOCATION, line, column: name, expected: 'a column of the mapping', message });
    }
    return { name, index, field: undefined, isUnnamed: true };
  });
  for (const { column, field, only } of [...byName.values()].flat()) {
    if (field === null && !only) continue;
    const message = 'The file does not have this column of the mapping.';
    issues.add({ ...NO_LOCATION, line, column, path: field, expected: 'a column of the file', message });
  }
  return columns;
}
