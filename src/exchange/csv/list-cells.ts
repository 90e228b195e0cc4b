/** An entry of a list in a cell. */
export interface ListEntry {
  text: string;
  /** Whether it is in quotes, so that it means exactly this text. */
  isQuoted: boolean;
}

/** What separates the entries of a list that Lanyard writes. Google Contacts writes `:::`. */
export const LIST_SEPARATOR = /;|:::/y;

/**
 * Splits a cell such as `a; b`. An entry in quotes may contain separators: `"a;b"; c`.
 * @param separator a sticky regular expression
 */
export function splitEntries(cell: string, separator = LIST_SEPARATOR): ListEntry[] {
  const entries: ListEntry[] = [];
  /** The index after a separator at an index; the index itself if there is none. */
  const afterSeparator = (index: number): number => {
    separator.lastIndex = index;
    return separator.test(cell) ? separator.lastIndex : index;
  };
  for (let position = 0; position < cell.length;) {
    const quoted = quotedEntry(cell, position);
    const isQuoted = quoted !== undefined && (quoted.end === cell.length || afterSeparator(quoted.end) > quoted.end);
    let end = isQuoted ? quoted.end : position;
    while (!isQuoted && end < cell.length && afterSeparator(end) === end) end++;
    const text = isQuoted ? quoted.text : cell.slice(position, end).trim();
    if (isQuoted || text !== '') entries.push({ text, isQuoted });
    position = afterSeparator(end);
  }
  return entries;
}

/** Writes a list so that `splitEntries` gives the same texts. */
export const joinEntries = (texts: string[], isReadBack = isPlainEntry): string =>
  texts.map((text) => (isReadBack(text) ? text : quoteEntry(text))).join('; ');

/** An entry that means exactly this text, whatever it contains. */
export const quoteEntry = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Whether a text needs no quotes as an entry. A cell that begins with a bracket is read as JSON. */
export function isPlainEntry(text: string): boolean {
  const [first, ...others] = splitEntries(text);
  return first?.text === text && !first.isQuoted && others.length === 0 && !/^[["]/.test(text);
}

/** The text in quotes at an index, and the index after it. */
function quotedEntry(cell: string, start: number): { text: string; end: number } | undefined {
  QUOTED_TEXT.lastIndex = start;
  const [, text] = QUOTED_TEXT.exec(cell) ?? [];
  return text === undefined ? undefined : { text: text.replaceAll('""', '"'), end: QUOTED_TEXT.lastIndex };
}

/** The text of a cell that is one entry in quotes; undefined for any other cell. */
export function wholeQuotedEntry(cell: string): string | undefined {
  const quoted = quotedEntry(cell, 0);
  return quoted?.end === cell.length ? quoted.text : undefined;
}

const QUOTED_TEXT = / *"([^"]*(?:""[^"]*)*)" */y;
