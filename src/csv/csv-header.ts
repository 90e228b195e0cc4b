import { DELIMITERS, mostFrequentDelimiter } from '../datasets/delimiters';
import { MAX_ROW_LENGTH, requireRowLength } from '../datasets/file-text';
import { importError } from '../datasets/import-error';
import { CsvParser, type CsvRow } from './csv-parser';

/** The header of a CSV file, and how its rows are read. */
export interface CsvHeader {
  names: string[];
  /** One-based number of its line. */
  line: number;
  delimiter: string;
  /** The lines before the header that have text, if it was found and not named by an option. */
  preamble?: { firstLine: number; lastLine: number };
  /** The delimiter of an option or of a line such as `sep=;`, by which the header cannot be read. */
  wrongDelimiter?: string;
}

/** A header and the text after it. */
export interface CsvText {
  header: CsvHeader;
  /** Number of the first line after the header. */
  line: number;
  text: AsyncIterable<string>;
}

export interface HeaderOptions {
  /** How many lines to skip before the header, not counting `sep=;`; the header is detected if undefined. */
  skipLines?: number;
  /** By default that of `sep=;`, or the one that the header has most of. */
  delimiter?: string;
  /** Whether a name in the header is that of a field, or of another known column. */
  isKnownName: (name: string) => boolean;
}

/** The first line of a file that names its delimiter, such as `sep=;`. */
const SEPARATOR_LINE = /^"?sep=(.)"?$/i;

/** How many lines may hold the header. */
const MAX_HEADER_LINE = 20;

/** With this many known names, a row is the header. */
const MIN_KNOWN_NAMES = 3;

/** The first lines of a file. */
interface FileStart {
  /** The lines after `sep=;` and those that the operator skips. */
  text: string;
  /** Number of the first of these lines. */
  line: number;
  separator?: string;
}

/** A row that may be the header. */
interface Candidate {
  row: CsvRow;
  delimiter: string;
  knownNames: number;
}

/** Reads up to the header, and tells what it is. */
export async function openCsvText(parts: AsyncGenerator<string>, options: HeaderOptions): Promise<CsvText> {
  const start = await readStart(parts, options.skipLines ?? 0);
  if (start.text.trim() === '') throw importError('The file is empty.');
  const header = findHeader(start, options);
  const rest = start.text.slice(header.end);
  return { header: header.header, line: header.nextLine, text: joinParts(rest, parts) };
}

async function* joinParts(start: string, parts: AsyncIterable<string>): AsyncGenerator<string> {
  yield start;
  yield* parts;
}

async function readStart(parts: AsyncGenerator<string>, skipLines: number): Promise<FileStart> {
  const reader = new LineReader(parts);
  let line = 1;
  let text = await reader.readLines(1, line);
  const [first = ''] = splitFirstLine(text, true);
  const separator = SEPARATOR_LINE.exec(first)?.[1];
  for (let toSkip = skipLines + (separator === undefined ? 0 : 1); toSkip > 0 && text !== ''; toSkip--) {
    [, text] = splitFirstLine(text, true);
    line++;
    text = await reader.readLines(1, line, text);
  }
  // Blank lines do not count as lines of a header.
  for (;;) {
    const [blank, rest] = splitFirstLine(text, reader.isComplete);
    if (rest === undefined || blank.trim() !== '' || text === '') break;
    line++;
    text = await reader.readLines(1, line, rest);
  }
  return { text: await reader.readLines(MAX_HEADER_LINE, line, text), line, separator };
}

/** Reads as many lines as are wanted from the parts of a file. */
class LineReader {
  isComplete = false;

  constructor(private readonly parts: AsyncGenerator<string>) {}

  /** @param line number of the first line of the text */
  async readLines(count: number, line: number, text = ''): Promise<string> {
    let lines = text;
    for (;;) {
      const ends = lines.match(/\r\n|\n|\r(?=[^])/g)?.length ?? 0;
      if (this.isComplete || ends >= count || (ends > 0 && lines.length > MAX_ROW_LENGTH)) return lines;
      if (ends === 0) requireRowLength(lines.length, line);
      const { value, done } = (await this.parts.next()) as IteratorResult<string, undefined>;
      if (done) this.isComplete = true;
      else lines += value;
    }
  }
}

/** The first line of a text and the rest, which is undefined if the line may go on in the next part of the file. */

function splitFirstLine(text: string, isComplete: true): [line: string, rest: string];
function splitFirstLine(text: string, isComplete: boolean): [line: string, rest: string | undefined];
function splitFirstLine(text: string, isComplete: boolean): [line: string, rest: string | undefined] {
  const end = /\r\n|\n|\r(?=[^])/.exec(text.length > MAX_ROW_LENGTH ? text.slice(0, MAX_ROW_LENGTH) : text);
  if (end) return [text.slice(0, end.index), text.slice(end.index + end[0].length)];
  return [text, isComplete ? '' : undefined];
}

interface FoundHeader {
  header: CsvHeader;
  /** Index after the header, and the number of the line there. */
  end: number;
  nextLine: number;
}

function findHeader(start: FileStart, options: HeaderOptions): FoundHeader {
  const named = options.delimiter ?? start.separator;
  const chosen = chooseHeader(start, named ? [named] : ALL_DELIMITERS, options);
  if (!named || chosen.knownNames >= MIN_KNOWN_NAMES) return locateHeader(start, chosen, options);
  const other = chooseHeader(start, ALL_DELIMITERS, options);
  if (other.knownNames <= chosen.knownNames || other.row.cells.length < 2) return locateHeader(start, chosen, options);
  const found = locateHeader(start, other, options);
  return { ...found, header: { ...found.header, wrongDelimiter: named } };
}

/** These are recognized where the names of columns are known. */
const ALL_DELIMITERS = [...DELIMITERS, '|'];

/** The first row with enough known names; else the first line, whatever it has. */
function chooseHeader({ text, line }: FileStart, delimiters: string[], options: HeaderOptions): Candidate {
  const candidates = delimiters.flatMap((delimiter) => candidatesOf(text, line, delimiter, options));
  const first = firstCandidate(candidates, ({ knownNames }) => knownNames >= MIN_KNOWN_NAMES);
  if (first) return first;
  const half = firstCandidate(candidates, (each) => isHalfKnown(each) && !isLoneCell(each, candidates));
  if (half) return half;
  const [firstLine] = splitFirstLine(text, true);
  const delimiter = delimiters.length === 1 ? delimiters[0] : mostFrequentDelimiter(firstLine);
  return candidates.find((each) => each.delimiter === delimiter) as Candidate;
}

const isHalfKnown = ({ row, knownNames }: Candidate): boolean => knownNames > 0 && knownNames * 2 >= row.cells.length;

/** Whether a row of one cell, such as `Notes:`, stands above rows of several. */
const isLoneCell = ({ row, delimiter }: Candidate, candidates: Candidate[]): boolean =>
  row.cells.length === 1 &&
  candidates.some((each) => each.delimiter === delimiter && each.row.line > row.line && each.row.cells.length > 1);

function candidatesOf(text: string, line: number, delimiter: string, options: HeaderOptions): Candidate[] {
  const parser = new CsvParser(delimiter, line);
  parser.push(text);
  const candidates: Candidate[] = [];
  for (const row of parser.rows(true)) {
    const knownNames = row.cells.filter((cell) => cell.trim() !== '' && options.isKnownName(cell)).length;
    candidates.push({ row, delimiter, knownNames });
    if (options.skipLines !== undefined || row.line - line >= MAX_HEADER_LINE) break;
  }
  return candidates;
}

/** The first of the candidates that meet a condition; of those of one line, the one with most known names. */
function firstCandidate(candidates: Candidate[], condition: (each: Candidate) => boolean): Candidate | undefined {
  const [first] = candidates
    .filter(condition)
    .sort((one, other) => one.row.line - other.row.line || other.knownNames - one.knownNames);
  return first;
}

function locateHeader({ text, line }: FileStart, { row, delimiter }: Candidate, options: HeaderOptions): FoundHeader {
  const parser = new CsvParser(delimiter, row.line);
  parser.push(text.slice(row.start));
  parser.rows(true).next();
  const { end, line: nextLine } = parser.state;
  const isPreambleNamed = options.skipLines === undefined && row.line > line;
  return {
    header: {
      names: row.cells,
      line: row.line,
      delimiter,
      preamble: isPreambleNamed ? { firstLine: line, lastLine: row.line - 1 } : undefined,
    },
    end: row.start + end,
    nextLine,
  };
}
