import { stripVTControlCharacters } from 'node:util';
import { styled } from './terminal';

type Cell = string | number | null;

/**
 * Rows below their heads, numbers to the right, with two blanks between columns: to read, copy, and cut by other
 * programs. On a terminal that is too narrow each row becomes a block of lines, `head  value`.
 * @param width columns of the terminal
 */
export function table(head: string[], rows: Cell[][], width = process.stdout.columns || Infinity): string {
  const cells = [head.map((name) => styled('bold', name)), ...rows.map((row) => row.map(text))];
  const columns = head.map((_, index) => ({
    width: cells.reduce((max, row) => Math.max(max, lengthOf(row[index])), 0),
    isNumeric: rows.every((row) => NUMBER.test(stripVTControlCharacters(text(row[index])))),
  }));
  const lines = cells.map((row) =>
    row
      .map((cell, index) => padded(cell, columns[index]))
      .join('  ')
      .trimEnd(),
  );
  return lines.every((line) => lengthOf(line) <= width)
    ? lines.join('\n')
    : rows.map((row) => pairs(head.map((name, index) => [name, row[index] ?? null]))).join('\n\n');
}

/** Lines of a name and its value. */
export function pairs(entries: [name: string, value: Cell][]): string {
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${styled('bold', name.padEnd(width))}  ${text(value)}`.trimEnd()).join('\n');
}

/** A number with thousands separators. */
export const figure = (value: number): string => value.toLocaleString('en-US');

const NUMBER = /^([\d,]+(\.\d+)?)?$/;

const text = (cell: Cell | undefined): string => String(cell ?? '');
const lengthOf = (cell = ''): number => stripVTControlCharacters(cell).length;

function padded(cell: string, { width, isNumeric } = { width: 0, isNumeric: false }): string {
  const blanks = ' '.repeat(width - lengthOf(cell));
  return isNumeric ? blanks + cell : cell + blanks;
}
