import { escapeInvisible } from '../../fields/invisible';

/**
 * Formats the result of a command, which --json prints as it is: a list of records as a table, and any other object as a line
 * for each value, followed by its lists of records. What has no value is left out.
 */
export function formatResult(result: object): string {
  if (Array.isArray(result)) return formatRecords(result as Record<string, unknown>[]);
  const lines: [string, unknown][] = [];
  const lists: string[] = [];
  for (const [name, value] of Object.entries(result)) {
    if (isListOfRecords(value)) lists.push(`\n\n${name}:\n${formatRecords(value)}`);
    else if (hasValue(value)) lines.push([name, value]);
  }
  return formatPairs(lines) + lists.join('');
}

const hasValue = (value: unknown): boolean => value !== null && value !== undefined;

const isListOfRecords = (value: unknown): value is Record<string, unknown>[] =>
  Array.isArray(value) && typeof value[0] === 'object' && value[0] !== null;

function formatRecords(records: Record<string, unknown>[]): string {
  if (records.length === 0) return 'None.';
  const names = [...new Set(records.flatMap(Object.keys))].filter((name) =>
    records.some((record) => hasValue(record[name])),
  );
  return formatTable(
    names,
    records.map((record) => names.map((name) => record[name])),
  );
}

/**
 * Formats rows below their headers, with two blanks between the columns. If the terminal is too narrow, each row becomes a
 * block of `header  value` lines.
 * @param terminalWidth columns of the terminal
 */
export function formatTable(
  headers: string[],
  rows: unknown[][],
  terminalWidth = process.stdout.columns || Infinity,
): string {
  const texts = [headers, ...rows.map((row) => row.map(cellText))];
  const widths = headers.map((_, index) => texts.reduce((max, row) => Math.max(max, row[index]!.length), 0));
  const lines = texts.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index]!))
      .join('  ')
      .trimEnd(),
  );
  return lines.every((line) => line.length <= terminalWidth)
    ? lines.join('\n')
    : rows.map((row) => formatPairs(headers.map((name, index) => [name, row[index]]))).join('\n\n');
}

/** Formats a name and its value per line. */
export function formatPairs(entries: [name: string, value: unknown][]): string {
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${cellText(value)}`.trimEnd()).join('\n');
}

/** A count with its noun, such as `1 lead` or `2,000 leads`. */
export const formatCount = (count: number, noun: string): string =>
  `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`;

/** A number with thousands separators. */
export const formatNumber = (value: number): string => value.toLocaleString('en-US');

/** A value in one line: `created 1, updated 2`, with the values of objects within it in parentheses. */
function cellText(value: unknown): string {
  if (!hasValue(value)) return '';
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'object') return escapeInvisible(String(value));
  const parts = Array.isArray(value) ? value.map(cellText) : Object.entries(value as object).map(namedText);
  return parts.filter(Boolean).join(', ') || 'none';
}

function namedText([name, value]: [string, unknown]): string {
  const text = cellText(value);
  if (text === '') return '';
  return typeof value === 'object' && !(value instanceof Date) ? `${name} (${text})` : `${name} ${text}`;
}
