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
  if (!cell.includes('"')) {
    const texts = cell.split(separator).map((text) => text.trim());
    return texts.filter(Boolean).map((text) => ({ text, isQuoted: false }));
  }
  const entries: ListEntry[] = [];
  let position = 0;
  while (position <= cell.length) {
    const quoted = quotedEntry(cell, position, separator);
    const end = quoted?.end ?? separatorIndex(cell, position, separator);
    const text = quoted?.text ?? cell.slice(position, end).trim();
    if (quoted || text !== '') entries.push({ text, isQuoted: quoted !== undefined });
    position = end + Math.max(1, separatorLength(cell, end, separator));
  }
  return entries;
}

/** Writes a list so that `splitEntries` gives the same texts. */
export const joinEntries = (texts: string[], isReadBack = isPlainEntry): string =>
  texts.map((text) => (isReadBack(text) ? text : `"${text.replaceAll('"', '""')}"`)).join('; ');

/** Whether a text needs no quotes as an entry. A cell that begins with a bracket is read as JSON. */
export function isPlainEntry(text: string): boolean {
  const [first, ...others] = splitEntries(text);
  return first?.text === text && !first.isQuoted && others.length === 0 && !/^[["]/.test(text);
}

function quotedEntry(cell: string, start: number, separator: RegExp): { text: string; end: number } | undefined {
  let opening = start;
  while (cell[opening] === ' ') opening++;
  if (cell[opening] !== '"') return undefined;
  let closing = cell.indexOf('"', opening + 1);
  while (closing >= 0 && cell[closing + 1] === '"') closing = cell.indexOf('"', closing + 2);
  if (closing < 0) return undefined;
  let end = closing + 1;
  while (cell[end] === ' ') end++;
  if (end < cell.length && separatorLength(cell, end, separator) === 0) return undefined;
  return { text: cell.slice(opening + 1, closing).replaceAll('""', '"'), end };
}

function separatorIndex(cell: string, start: number, separator: RegExp): number {
  for (let index = start; index < cell.length; index++) {
    if (separatorLength(cell, index, separator) > 0) return index;
  }
  return cell.length;
}

function separatorLength(cell: string, index: number, separator: RegExp): number {
  separator.lastIndex = index;
  return separator.exec(cell)?.[0].length ?? 0;
}
