import { refusal } from '../datasets/faults';
import { MAX_ROW, requireRow } from '../datasets/file-text';

/** A CSV file from the line with the names of its columns on. */
export interface CsvText {
  delimiter: string;
  /** lines before it */
  skipped: number;
  text: AsyncIterable<string>;
}

const SEPARATOR = /^"?sep=(.)"?$/i;
const DELIMITERS = [',', ';', '\t'];

/**
 * Leaves out what stands before the names: `sep=;`, which says the delimiter, and as many lines as --skip-lines says.
 * @param delimiter that is given; else it is that of `sep=`, or the one that the line of the names has most of
 */
export async function csvTextOf(
  parts: AsyncGenerator<string>,
  skipLines: number,
  delimiter?: string,
): Promise<CsvText> {
  let head = '';
  let isWhole = false;
  let said: string | undefined;
  let skipped = 0;
  for (;;) {
    const [line, rest] = firstLine(head, isWhole);
    if (line !== undefined && rest !== undefined) {
      const [, separator] = skipped === 0 ? (SEPARATOR.exec(line) ?? []) : [];
      const isBefore = separator !== undefined || skipped - (said ? 1 : 0) < skipLines || line.trim() === '';
      if (!isBefore || (isWhole && head === '')) break;
      said ??= separator;
      head = rest;
      skipped++;
      continue;
    }
    requireRow(head.length, skipped + 1);
    const { value, done } = (await parts.next()) as IteratorResult<string, undefined>;
    if (done) isWhole = true;
    else head += value;
  }
  if (head.trim() === '') throw refusal('the file is empty');
  const [line = ''] = firstLine(head, true);
  async function* text() {
    yield head;
    yield* parts;
  }
  return { delimiter: delimiter ?? said ?? most(line), skipped, text: mended(text(), delimiter ?? said ?? most(line)) };
}

/** The first line and what follows; undefined while it may go on. */
function firstLine(text: string, isWhole: boolean): [line?: string, rest?: string] {
  const end = /\r\n|\n|\r(?=[^])/.exec(text.length > MAX_ROW ? text.slice(0, MAX_ROW) : text);
  if (end) return [text.slice(0, end.index), text.slice(end.index + end[0].length)];
  return isWhole ? [text, ''] : [];
}

/** The delimiter that a line has most of outside quotes; a comma where there is none, or not one alone. */
export function most(line: string): string {
  const bare = line.replace(/"[^"]*"/g, '');
  const counts = DELIMITERS.map((delimiter) => bare.split(delimiter).length - 1);
  const highest = Math.max(...counts);
  const [found = ',', ...others] = DELIMITERS.filter((_, nth) => counts[nth] === highest);
  return others.length > 0 ? ',' : found;
}

const isBlank = (character?: string): boolean => character === ' ' || character === '\t';

/** Where the blanks begin that end a text, perhaps with `=` after them. */
function trailingBlanksOf(text: string, isPart: (character?: string) => boolean): number {
  let at = text.endsWith('=') ? text.length - 1 : text.length;
  while (at > 0 && isPart(text[at - 1])) at--;
  return at;
}

/** Where a cell begins whose quote comes after a text; undefined where the quote stands within a cell. */
function cellStartOf(text: string, delimiter: string): number | undefined {
  const start = trailingBlanksOf(text, (character) => character !== delimiter && isBlank(character));
  const before = text.slice(0, start);
  return start === 0 || [delimiter, '\r', '\n'].some((end) => before.endsWith(end)) ? start : undefined;
}

/** Blanks that may belong to a quote in the next part of a file: of longer runs the rest is text. */
const MAX_BLANKS = 1000;

/** Where the character stands that may be a delimiter before the last blanks of a text. */
function lastDelimiterOf(text: string): number {
  const end = text.slice(-MAX_BLANKS);
  const blanks = trailingBlanksOf(end, isBlank);
  return text.length - end.length + Math.max(0, blanks - 1);
}

/**
 * CSV has nothing between a delimiter and a quote. Programs write blanks there, which mean nothing, and `="0441"`, a formula
 * that keeps a spreadsheet from reading a number: it becomes the text of a cell.
 */
async function* mended(parts: AsyncIterable<string>, delimiter: string): AsyncGenerator<string> {
  let isInside = false;
  let isFormula = false;
  let isStart = true;
  let held = '';
  for await (const part of parts) {
    const pieces = (held + part).split('"');
    // The end of a part may belong to what follows.
    held = pieces.pop() ?? '';
    let text = '';
    for (const piece of pieces) {
      if (isInside) {
        text += isFormula ? `${piece}"""` : `${piece}"`;
        isFormula = false;
      } else {
        const start = cellStartOf(piece, delimiter);
        const mayBegin = start !== undefined && (start > 0 || isStart);
        isFormula = mayBegin && start < piece.length && piece.endsWith('=');
        text += mayBegin ? `${piece.slice(0, start)}${isFormula ? '"=""' : '"'}` : `${piece}"`;
      }
      isInside = !isInside;
      isStart = false;
    }
    const kept = isInside ? held.length : lastDelimiterOf(held);
    const sent = held.slice(0, kept);
    held = held.slice(kept);
    isStart &&= sent === '';
    yield text + sent;
  }
  yield held;
}
