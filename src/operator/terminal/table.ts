import { stripVTControlCharacters } from 'node:util';
import { applyStyle } from './terminal';

type Cell = string | number | null;

/**
 * Rows below their heads, numbers to the right, with two blanks between columns: to read, copy, and cut by other
 * programs. On a terminal that is too narrow each row becomes a block of lines, `head  value`.
 * @param terminalWidth columns of the terminal
 */
export function formatTable(
  headers: string[],
  rows: Cell[][],
  terminalWidth = process.stdout.columns || Infinity,
): string {
  const cells = [headers.map((name) => applyStyle('bold', name)), ...rows.map((row) => row.map(cellText))];
  const columns = headers.map((_, index) => ({
    width: cells.reduce((max, row) => Math.max(max, visibleLength(row[index])), 0),
    isNumeric: rows.every((row) => NUMBER.test(stripVTControlCharacters(cellText(row[index])))),
  }));
  const lines = cells.map((row) =>
    row
      .map((cell, index) => pad(cell, columns[index]))
      .join('  ')
      .trimEnd(),
  );
  return lines.every((line) => visibleLength(line) <= terminalWidth)
    ? lines.join('\n')
    : rows.map((row) => formatPairs(headers.map((name, index) => [name, row[index] ?? null]))).join('\n\n');
}

/** Lines of a name and its value. */
export function formatPairs(entries: [name: string, value: Cell][]): string {
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries
    .map(([name, value]) => `${applyStyle('bold', name.padEnd(width))}  ${cellText(value)}`.trimEnd())
    .join('\n');
}

/** A number with thousands separators. */
export const formatNumber = (value: number): string => value.toLocaleString('en-US');

const NUMBER = /^([\d,]+(\.\d+)?)?$/;

const cellText = (cell: Cell | undefined): string => String(cell ?? '');
const visibleLength = (cell = ''): number => stripVTControlCharacters(cell).length;

function pad(cell: string, { width, isNumeric } = { width: 0, isNumeric: false }): string {
  const blanks = ' '.repeat(width - visibleLength(cell));
  return isNumeric ? blanks + cell : cell + blanks;
}
