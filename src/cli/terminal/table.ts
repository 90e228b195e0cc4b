import { stripVTControlCharacters } from 'node:util';
import Table from 'cli-table3';
import { styled } from './terminal';

type Cell = string | number | null;

/** Only two blanks between columns: it can be read, copied, and cut by other programs. */
const BLANKS = Object.fromEntries(
  ['top', 'bottom', 'mid', 'left', 'right']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .map((part) => [part, '']),
);

/**
 * Rows below their heads, numbers to the right. On a terminal that is too narrow for it each row is a block of lines,
 * `head  value`, because a row that is broken in two cannot be read.
 * @param width columns of the terminal
 */
export function table(head: string[], rows: Cell[][], width = process.stdout.columns): string {
  const isNumeric = head.map((_, column) =>
    rows.every((row) => NUMBER.test(stripVTControlCharacters(text(row[column])))),
  );
  const lines = new Table({
    head: head.map((name) => styled('bold', name)),
    chars: { ...BLANKS, middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: isNumeric.map((is) => (is ? 'right' : 'left')),
  });
  lines.push(...rows.map((row) => row.map(text)));
  const whole = withoutEnds(lines.toString());
  const isTooWide = whole.split('\n').some((line) => stripVTControlCharacters(line).length > (width || Infinity));
  return isTooWide
    ? rows.map((row) => pairs(head.map((name, column) => [name, row[column] ?? null]))).join('\n\n')
    : whole;
}

/** Lines of a name and its value. */
export function pairs(entries: [name: string, value: Cell][]): string {
  const width = Math.max(...entries.map(([name]) => name.length));
  return withoutEnds(
    entries.map(([name, value]) => `${styled('bold', name.padEnd(width))}  ${text(value)}`).join('\n'),
  );
}

/** A number as people write it. */
export const figure = (value: number): string => value.toLocaleString('en-US');

const NUMBER = /^([\d,]+(\.\d+)?)?$/;

const text = (cell: Cell | undefined): string => String(cell ?? '');

const withoutEnds = (lines: string): string => lines.replace(/ +$/gm, '');
