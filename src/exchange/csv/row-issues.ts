import { DELIMITERS } from '../datasets/fallback-delimiter';
import { type LocatedIssue, NO_LOCATION } from '../datasets/import-error';
import type { CsvColumn } from './csv-options';
import { type CsvRow, ROW_EXPECTED } from './csv-parser';
import type { UsableRecord } from './csv-section';
import { trimInvisible } from './csv-values';
import { isDateOnly } from './date-times';

/** No row has this many columns, so dividing a column index by it does not change the order of lines. */
const MAX_COLUMNS = 2 ** 25;

/** Sorts the errors of cells in the order of the file. */
export const cellOrder = (line: number | null, columnIndex = -1): number =>
  (line ?? 0) + (columnIndex + 1) / MAX_COLUMNS;

/** Why a row is no record; undefined if it is one. */
export function rowIssue({ cells, line, problem }: CsvRow, header: string[]): LocatedIssue | undefined {
  const count = header.length;
  const issue = { ...NO_LOCATION, line, expected: `${count} cells` };
  if (problem !== undefined) return { ...issue, expected: ROW_EXPECTED, message: problem, kind: problem };
  const [value = ''] = cells;
  if (cells.length === 1 && count > 1) {
    const message = `Only one cell in a file of ${count} columns. Skip or delete it if it is a footer; remove the quotation marks if they are around a whole row.`;
    const isQuotedRow = DELIMITERS.some((delimiter) => value.split(delimiter).length === count);
    return { ...issue, value, kind: 'single cell', message, isLineSkippable: !isQuotedRow };
  }
  const isHeader = cells.length === count && cells.every((cell, index) => cell.trim() === header[index]?.trim());
  if (isHeader && count > 1) {
    const message = 'The header is repeated here. Skip the line, or delete it.';
    return { ...issue, expected: 'a record', message, kind: 'repeated header', isLineSkippable: true };
  }
  const surplus = cells.findIndex((cell, index) => index >= count && cell.trim() !== '');
  if (surplus < 0) return undefined;
  const columns = count === 1 ? '1 column' : `${count} columns`;
  const message = `This row has ${cells.length} cells, but the header has ${columns}. Quote cells that contain the delimiter.`;
  return { ...issue, value: cells[surplus], message, order: cellOrder(line, surplus), kind: 'surplus cells' };
}

/** A number, a date or time, or a flag. */
const NO_TEXT = /^(?:[^\p{L}]*|yes|no|true|false|x)$/iu;

/** Whether a cell says something of somebody. A name with a number that stands alone in its row is a line of totals. */
export function isPartOfRecord(
  { field }: CsvColumn,
  cell: string,
  { numberFields, nameFields, stateFields }: UsableRecord,
  filledCells: number,
): boolean {
  if (!field) return false;
  if (numberFields.test(field.name)) return true;
  const text = trimInvisible(cell);
  if (stateFields.test(field.name) || NO_TEXT.test(text) || isDateOnly(text)) return false;
  return filledCells > 1 || !nameFields.test(field.name) || !/[\d:©]/.test(text);
}

export const blankIssue = (line: number): LocatedIssue => ({
  ...NO_LOCATION,
  line,
  expected: 'a name, an address, a phone number or a company',
  message: 'Nothing in this row by which somebody could be recognized or reached. Skip the line, or delete it.',
  kind: 'blank row',
  isLineSkippable: true,
});
