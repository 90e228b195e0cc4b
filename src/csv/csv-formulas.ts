/**
 * A spreadsheet runs a cell that begins like this as a formula, on the machine of the person who opens it, though anybody
 * may have typed it into a form (OWASP, CSV injection). A quote before it makes it text. Cells that begin with quotes and
 * then so get one more, so that removing it loses nothing.
 */
const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

export const escapeFormula = (cell: string): string => (FORMULA.test(cell) ? `'${cell}` : cell);

/** Undoes `escapeFormula`. */
export const unescapeFormula = (cell: string): string =>
  cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
