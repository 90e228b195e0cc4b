/**
 * A spreadsheet may run a cell that begins like this as a formula, on the machine of whoever opens the file, although
 * anybody may have typed it into a form (OWASP, CSV injection). An apostrophe before it turns it into text. Cells that begin
 * with apostrophes and then like this get one more, so that removing it restores the cell.
 */
const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

/** Digits that an apostrophe keeps as they are in a spreadsheet. */
const QUOTED_DIGITS = /^'+\d/;

export const escapeFormula = (cell: string): string =>
  FORMULA.test(cell) || QUOTED_DIGITS.test(cell) ? `'${cell}` : cell;

/** A formula of one text, by which a spreadsheet keeps digits as they are. */
const TEXT_FORMULA = /^="((?:[^"]|"")*)"$/;

/** The text that a cell stands for: that of `="0441"`, and what `escapeFormula` was given. */
export function plainText(cell: string): string {
  const [, text] = cell.includes('="') ? (TEXT_FORMULA.exec(cell.trim()) ?? []) : [];
  return text === undefined ? unescapeFormula(cell) : text.replaceAll('""', '"');
}

/** Undoes `escapeFormula`. */
export const unescapeFormula = (cell: string): string =>
  cell.startsWith("'") && (FORMULA.test(cell) || QUOTED_DIGITS.test(cell)) ? cell.slice(1) : cell;

/**
 * A row of CSV as RFC 4180 describes it, but with a line feed alone at its end.
 * @param delimiters characters to quote; the first one separates the cells
 */
export function csvRow(cells: string[], delimiters: string): string {
  const needsQuotes = (cell: string): boolean =>
    /["\r\n]/.test(cell) || [...delimiters].some((each) => cell.includes(each));
  const quoted = cells.map((cell) => (needsQuotes(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
  return `${quoted.join(delimiters[0])}\n`;
}
