import { stripVTControlCharacters } from 'node:util';
import { applyStyle } from './terminal';

type Cell = string | number | Date | null;

/**
 * Formats rows below their headers. Numbers are right-aligned, and two blanks separate the columns, so that people can read
 * it and other programs can split it. If the terminal is too narrow, each row becomes a block of `header  value` lines.
 * @param terminalWidth columns of the terminal
 */
export function formatTable(
  headers: string[],
  rows: Cell[][],
  terminalWidth = process.stdout.columns || Infinity,
): string {
  const columns = headers.map((header, index) =>
    alignColumn(
      applyStyle('bold', header),
      rows.map((row) => cellText(row[index])),
    ),
  );
  const lines = [headers, ...rows].map((_, index) =>
    columns
      .map((column) => column[index])
      .join('  ')
      .trimEnd(),
  );
  return lines.every((line) => visibleLength(line) <= terminalWidth)
    ? lines.join('\n')
    : rows.map((row) => formatPairs(headers.map((name, index) => [name, row[index] ?? null]))).join('\n\n');
}

/** Formats a name and its value per line. */
export function formatPairs(entries: [name: string, value: Cell][]): string {
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries
    .map(([name, value]) => `${applyStyle('bold', name.padEnd(width))}  ${cellText(value)}`.trimEnd())
    .join('\n');
}

/** A count with its noun, such as `1 lead` or `2,000 leads`. */
export const formatCount = (count: number, noun: string): string =>
  `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`;

/** A number with thousands separators. */
export const formatNumber = (value: number): string => value.toLocaleString('en-US');

const NUMBER = /^([\d,]+(\.\d+)?)?$/;

const cellText = (cell: Cell | undefined): string => (cell instanceof Date ? cell.toISOString() : String(cell ?? ''));
const visibleLength = (cell: string): number => stripVTControlCharacters(cell).length;

function alignColumn(header: string, cells: string[]): string[] {
  const isNumeric = cells.every((cell) => NUMBER.test(stripVTControlCharacters(cell)));
  const all = [header, ...cells];
  const width = all.reduce((max, cell) => Math.max(max, visibleLength(cell)), 0);
  return all.map((cell) => {
    const blanks = ' '.repeat(width - visibleLength(cell));
    return isNumeric ? blanks + cell : cell + blanks;
  });
}
