/**
 * A spreadsheet may run a cell that begins like this as a formula, on the machine of whoever opens the file, although
 * anybody may have typed it into a form (OWASP, CSV injection). An apostrophe before it turns it into text. Cells that begin
 * with apostrophes and then like this get one more, so that removing it restores the cell.
 */
const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

export const escapeFormula = (cell: string): string => (FORMULA.test(cell) ? `'${cell}` : cell);

/** Undoes `escapeFormula`. */
export const unescapeFormula = (cell: string): string =>
  cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
