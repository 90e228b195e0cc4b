import { refusal } from './faults';
import { MAX_ROW, requireRow } from './file-text';

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

/**
 * CSV has nothing between a delimiter and a quote. Programs write blanks there, which mean nothing, and `="0441"`, a formula
 * that keeps a spreadsheet from reading a number: it becomes the text of a cell.
 */
async function* mended(parts: AsyncIterable<string>, delimiter: string): AsyncGenerator<string> {
  const sign = delimiter.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const blanks = [' ', '\\t'].filter((blank) => blank !== delimiter && delimiter !== '\t').join('') || ' ';
  const before = new RegExp(`(^|[${sign}\\r\\n])([${blanks}]*)(=?)$`);
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
        const found = before.exec(piece);
        const mayBegin = found && (found[1] !== '' || isStart);
        isFormula = Boolean(mayBegin && found[3]);
        text += mayBegin ? `${piece.slice(0, found.index)}${found[1]}${isFormula ? '"=""' : '"'}` : `${piece}"`;
      }
      isInside = !isInside;
      isStart = false;
    }
    const keep = isInside ? 0 : (/[^]?[ \t]*=?$/.exec(held.slice(-1000))?.[0].length ?? 0);
    const sent = held.slice(0, held.length - keep);
    held = held.slice(held.length - keep);
    isStart &&= sent === '';
    yield text + sent;
  }
  yield held;
}
