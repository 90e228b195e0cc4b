import { type LocatedIssue, NO_LOCATION } from '../datasets/import-error';
import type { CsvColumn } from './csv-format';
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
export function rowIssue(row: CsvRow, header: string[]): LocatedIssue | undefined {
  const { cells, line, problem } = row;
  if (problem !== undefined) return { ...NO_LOCATION, line, expected: ROW_EXPECTED, message: problem, kind: problem };
  if (cells.length === 1 && header.length > 1) return singleCellIssue(row, header);
  const isHeader =
    cells.length === header.length && cells.every((cell, index) => cell.trim() === header[index]?.trim());
  if (isHeader && header.length > 1) {
    const message = 'The header is repeated here. Skip the line, or delete it.';
    return { ...NO_LOCATION, line, expected: 'a record', message, kind: 'repeated header', isLineSkippable: true };
  }
  return surplusCellIssue(row, header);
}

function singleCellIssue({ cells, line }: CsvRow, header: string[]): LocatedIssue {
  const [cell = ''] = cells;
  const issue = { ...NO_LOCATION, line, value: cell, expected: `${header.length} cells`, kind: 'single cell' };
  const isQuotedRow = [',', ';', '\t'].some((delimiter) => cell.split(delimiter).length === header.length);
  if (isQuotedRow) {
    const message = `Only one cell in a file of ${header.length} columns: the whole row is quoted. Remove the quotation marks around it.`;
    return { ...issue, kind: 'quoted row', message };
  }
  const message = `Only one cell in a file of ${header.length} columns. If this is a footer, skip the line or delete it.`;
  return { ...issue, message, isLineSkippable: true };
}

function surplusCellIssue({ cells, line }: CsvRow, header: string[]): LocatedIssue | undefined {
  const index = cells.findIndex((cell, each) => each >= header.length && cell.trim() !== '');
  if (index < 0) return undefined;
  const columns = header.length === 1 ? '1 column' : `${header.length} columns`;
  const message = `This row has ${cells.length} cells, but the header has ${columns}. Quote cells that contain the delimiter.`;
  const order = cellOrder(line, index);
  return {
    ...NO_LOCATION,
    line,
    value: cells[index],
    expected: `${header.length} cells`,
    message,
    order,
    kind: 'surplus cells',
  };
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
