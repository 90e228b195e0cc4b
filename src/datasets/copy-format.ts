import type { RecordLocation } from './import-plan';
import type { StagedColumn, Table } from './tables';

type Row = Record<string, unknown>;

/** A valid record and where it was found. */
export interface StagedRecord extends RecordLocation {
  record: object;
}

/** The rows of a record in a table, one or one for each entry of the array that the table stores, in the format of COPY. */
export function copyRows(table: Table, { record, index, line }: StagedRecord): string {
  const { list, staged, owner, dataset, hasTextEntries, match } = table;
  const fields = record as Row;
  // Joined cells are one text. Texts that are appended to each other stay many, which the garbage collector copies.
  const row = (entryIndex: number | undefined, valueOf: (column: StagedColumn) => unknown): string => {
    const cells = [String(line ?? NULL), String(index), String(entryIndex ?? NULL)];
    for (const column of staged) cells.push(copyText(valueOf(column), column.type));
    return `${cells.join('\t')}\n`;
  };
  if (!list) return row(undefined, (column) => valueOf(column, fields));
  const entries = (fields[list.name] ?? []) as unknown[];
  const rows = entries.map((entry, entryIndex) =>
    row(entryIndex, (column) => {
      if (column === owner) return fields[dataset.key];
      if (column.name === 'position') return entryIndex;
      if (hasTextEntries) return column.name === match[1] ? entry : undefined;
      return valueOf(column, entry as Row);
    }),
  );
  return rows.join('');
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
export function copyText(value: unknown, type: string): string {
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
