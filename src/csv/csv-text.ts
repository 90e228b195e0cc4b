import { mostFrequentDelimiter } from '../datasets/delimiters';
import { MAX_ROW_LENGTH, requireRowLength } from '../datasets/file-text';
import { importError } from '../datasets/import-error';

/** The text of a CSV file from its header on. */
export interface CsvText {
  delimiter: string;
  /** How many lines of the file are before the header. */
  skippedLines: number;
  text: AsyncIterable<string>;
}

/** The first line of a file that names its delimiter, such as `sep=;`. */
const SEPARATOR_LINE = /^"?sep=(.)"?$/i;

/**
 * Reads up to the header: skips a line such as `sep=;`, the lines that the operator wants to skip, and blank lines.
 * @param skipLines how many lines to skip, not counting `sep=;`
 * @param delimiter by default that of `sep=;`, or the one that the header has most of
 */
export async function openCsvText(
  parts: AsyncGenerator<string>,
  skipLines: number,
  delimiter?: string,
): Promise<CsvText> {
  let start = '';
  let isComplete = false;
  let separator: string | undefined;
  let skippedLines = 0;
  for (;;) {
    const split = splitFirstLine(start, isComplete);
    if (split) {
      const [line, rest] = split;
      const named = skippedLines === 0 ? SEPARATOR_LINE.exec(line)?.[1] : undefined;
      const skippedByOption = skippedLines - (separator === undefined ? 0 : 1);
      const isHeader = named === undefined && skippedByOption >= skipLines && line.trim() !== '';
      if (isHeader || (isComplete && start === '')) break;
      separator ??= named;
      start = rest;
      skippedLines++;
      continue;
    }
    requireRowLength(start.length, skippedLines + 1);
    const { value, done } = (await parts.next()) as IteratorResult<string, undefined>;
    if (done) isComplete = true;
    else start += value;
  }
  if (start.trim() === '') throw importError('The file is empty.');
  const [header = ''] = splitFirstLine(start, true) ?? [];
  const chosen = delimiter ?? separator ?? mostFrequentDelimiter(header);
  return { delimiter: chosen, skippedLines, text: repairQuotes(joinParts(start, parts), chosen) };
}

async function* joinParts(start: string, parts: AsyncIterable<string>): AsyncGenerator<string> {
  yield start;
  yield* parts;
}

/** The first line of a text and the rest; undefined if the line may go on in the next part of the file. */
function splitFirstLine(text: string, isComplete: boolean): [line: string, rest: string] | undefined {
  const end = /\r\n|\n|\r(?=[^])/.exec(text.length > MAX_ROW_LENGTH ? text.slice(0, MAX_ROW_LENGTH) : text);
  if (end) return [text.slice(0, end.index), text.slice(end.index + end[0].length)];
  return isComplete ? [text, ''] : undefined;
}

const isBlank = (character?: string): boolean => character === ' ' || character === '\t';

/** The index of the blanks at the end of a text, which may have `=` after them. */
function trailingBlanksStart(text: string, isSkipped: (character?: string) => boolean): number {
  let index = text.endsWith('=') ? text.length - 1 : text.length;
  while (index > 0 && isSkipped(text[index - 1])) index--;
  return index;
}

/**
 * Where the cell begins whose opening quote comes after a text, blanks and `=` included; undefined if the quote is within a
 * cell.
 */
function quotedCellStart(text: string, delimiter: string): number | undefined {
  const start = trailingBlanksStart(text, (character) => character !== delimiter && isBlank(character));
  const before = text.slice(0, start);
  return start === 0 || [delimiter, '\r', '\n'].some((end) => before.endsWith(end)) ? start : undefined;
}

/** How many blanks before a quote may be split between two parts of the file. The rest of a longer run is text. */
const MAX_BLANKS = 1000;

/** The index of the character before the last blanks of a text, which may be a delimiter. */
function lastDelimiterIndex(text: string): number {
  const end = text.slice(-MAX_BLANKS);
  const blanks = trailingBlanksStart(end, isBlank);
  return text.length - end.length + Math.max(0, blanks - 1);
}

/**
 * Repairs two things that programs write although CSV has nothing between a delimiter and a quote. Blanks before a quote
 * are removed. `="0441"`, a formula that keeps a spreadsheet from reading a number, becomes the text of the cell.
 */
async function* repairQuotes(parts: AsyncIterable<string>, delimiter: string): AsyncGenerator<string> {
  let isQuoted = false;
  let isFormula = false;
  let isFileStart = true;
  let pending = '';
  for await (const part of parts) {
    const pieces = (pending + part).split('"');
    // What follows the last quote may belong to a quote in the next part.
    pending = pieces.pop() ?? '';
    let repaired = '';
    for (const piece of pieces) {
      if (isQuoted) {
        repaired += isFormula ? `${piece}"""` : `${piece}"`;
        isFormula = false;
      } else {
        const start = quotedCellStart(piece, delimiter);
        const opensCell = start !== undefined && (start > 0 || isFileStart);
        isFormula = opensCell && start < piece.length && piece.endsWith('=');
        const opening = isFormula ? '"=""' : '"';
        repaired += opensCell ? piece.slice(0, start) + opening : `${piece}"`;
      }
      isQuoted = !isQuoted;
      isFileStart = false;
    }
    const completeLength = isQuoted ? pending.length : lastDelimiterIndex(pending);
    const complete = pending.slice(0, completeLength);
    pending = pending.slice(completeLength);
    isFileStart &&= complete === '';
    yield repaired + complete;
  }
  yield pending;
}
