import type { RecordLocation } from './import-plan';
import type { StagedColumn, Table } from './tables';

type Row = Record<string, unknown>;

/** A valid record and where it was found. */
export interface StagedRecord extends RecordLocation {
  record: object;
}

/** The rows of a record in a table, one or one for each entry of the array that the table stores, in the format of COPY. */
export function copyRows(table: Table, { record, index, line }: StagedRecord): string {
  const { list, staged } = table;
  const fields = record as Row;
  const location = `${line ?? NULL}\t${index}\t`;
  if (!list) return `${location}${NULL}${copyValues(staged, (column) => valueOf(column, fields))}\n`;
  let rows = '';
  for (const [entryIndex, entry] of ((fields[list.name] ?? []) as unknown[]).entries())
    rows += `${location}${entryIndex}${copyValues(staged, entryReader(table, fields, entry, entryIndex))}\n`;
  return rows;
}

function entryReader(
  { owner, dataset, hasTextEntries, match }: Table,
  fields: Row,
  entry: unknown,
  entryIndex: number,
): (column: StagedColumn) => unknown {
  return (column) => {
    if (column === owner) return fields[dataset.key];
    if (column.name === 'position') return entryIndex;
    if (hasTextEntries) return column.name === match[1] ? entry : undefined;
    return valueOf(column, entry as Row);
  };
}

function copyValues(columns: StagedColumn[], valueOf: (column: StagedColumn) => unknown): string {
  let values = '';
  for (const column of columns) values += `\t${copyText(valueOf(column), column)}`;
  return values;
}

function valueOf({ outer, inner, initial }: StagedColumn, fields: Row): unknown {
  const value = fields[outer];
  return (inner === undefined ? value : (value as Row | null | undefined)?.[inner]) ?? initial;
}

/** What begins or ends a value in the text format of COPY. */
const SPECIAL = /[\\\t\n\r]/;
const SPECIALS = /[\\\t\n\r]/g;
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

const NULL = '\\N';

/** A value of a column in the text format of PostgreSQL's COPY. */
export function copyText(value: unknown, { type }: Pick<StagedColumn, 'type'>): string {
  if (value === null || value === undefined) return NULL;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = inputText(value, type);
  return SPECIAL.test(text) ? text.replace(SPECIALS, (special) => ESCAPES[special] ?? special) : text;
}

/** The text that PostgreSQL's type reads as the value. */
function inputText(value: unknown, type: string): string {
  if (type === 'jsonb' || type === 'json') return JSON.stringify(value);
  if (Array.isArray(value)) return `{${value.map(arrayEntry).join(',')}}`;
  return textOf(value);
}

const textOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

const arrayEntry = (entry: unknown): string =>
  entry === null ? 'null' : `"${textOf(entry).replace(/["\\]/g, '\\$&')}"`;
