/**
 * A spreadsheet takes a cell that begins like this for a formula, which whoever typed a name into a form could then run
 * on the machine of whoever opens the export (OWASP, CSV injection). A quote before it makes it text. Cells that begin
 * so with quotes before it get one more, so that it can be taken away again without a loss.
 */
const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

export const withoutFormula = (cell: string): string => (FORMULA.test(cell) ? `'${cell}` : cell);

/** What stood there before `withoutFormula`. */
export const asItWas = (cell: string): string => (cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell);
