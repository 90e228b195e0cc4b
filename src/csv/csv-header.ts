import { DELIMITERS, mostFrequentDelimiter } from '../datasets/fallback-delimiter';
import { MAX_ROW_LENGTH, requireRowLength } from '../datasets/open';
import { importError } from '../datasets/import-error';
import { plainText } from './csv-formulas';
import type { ColumnNames } from './column-names';
import { CsvParser, type CsvRow } from './csv-parser';

/** The header of a CSV file, and how to read its rows. */
export interface CsvHeader {
  names: string[];
  /** One-based number of its line. */
  line: number;
  delimiter: string;
  /** The lines with text before the header, if the header was detected. */
  preamble?: { firstLine: number; lastLine: number };
  /** What names the delimiter; the header itself if undefined. */
  delimiterSource?: '--delimiter' | 'sep=';
  /** The delimiter of an option or of a line such as `sep=;` if it does not fit the header. */
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
  /** The delimiter; by default that of `sep=;`, or the most frequent one in the header. */
  delimiter?: string;
  /** What is known of the names of columns. */
  names: ColumnNames;
  /** Whether cells that look like a formula stay as they are. */
  raw: boolean;
}

/** The first line of a file that names its delimiter, such as `sep=;`. */
const SEPARATOR_LINE = /^"?sep=(.)"?$/i;

/** The header must be within this many lines, or below the tables of hosts and panelists within the second number. */
const MAX_HEADER_LINE = 20;
const MAX_LINES_OF_OTHERS = 200;

/** How many cells of a row are examined to detect the header. */
const MAX_LOOKED_AT = 1000;

/** A row with this many known names is the header. */
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
  /** Index after the row, and the number of the line there. */
  end: number;
  nextLine: number;
  delimiter: string;
  knownNames: number;
  /** Whether it stands below a title such as `Host Details`. */
  isOfOthers: boolean;
}

/** The cells with text. */
export const textsOf = ({ cells }: CsvRow): string[] => cells.filter((cell) => cell.trim() !== '');

/** Reads up to the header and detects its format. */
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
  const reader = new StartReader(parts);
  await reader.readLines(1);
  const separator = SEPARATOR_LINE.exec(splitFirstLine(reader.text)[0])?.[1];
  for (let toSkip = skipLines + (separator === undefined ? 0 : 1); toSkip > 0 && reader.text !== ''; toSkip--) {
    reader.skip(splitFirstLine(reader.text)[1], 1);
    await reader.readLines(1);
  }
  await reader.skipBlankLines();
  await reader.readLines(MAX_LINES_OF_OTHERS);
  return { text: reader.text, line: reader.line, separator };
}

/** Reads the first lines from the parts of a file. */
class StartReader {
  /** The text that has been read and not skipped. */
  text = '';
  /** Number of its first line. */
  line = 1;
  private isComplete = false;

  constructor(private readonly parts: AsyncGenerator<string>) {}

  /** @param rest the text after the lines that are skipped */
  skip(rest: string, lines: number): void {
    this.text = rest;
    this.line += lines;
  }

  /** Reads until the text has this many lines, or a long one. */
  async readLines(count: number): Promise<void> {
    let ends = countLineEnds(this.text);
    while (!this.isComplete && ends < count && (ends === 0 || this.text.length <= MAX_ROW_LENGTH)) {
      if (ends === 0) requireRowLength(this.text.length, this.line);
      ends += countLineEnds(await this.readPart());
    }
  }

  async skipBlankLines(): Promise<void> {
    for (;;) {
      const [blank = ''] = /^\s*/.exec(this.text) ?? [];
      const isAllBlank = blank.length === this.text.length;
      // A carriage return at the end may be the first half of a line end.
      const known = isAllBlank && !this.isComplete ? blank.replace(/\r$/, '') : blank;
      const skipped = known.slice(0, Math.max(known.lastIndexOf('\n'), known.lastIndexOf('\r')) + 1);
      this.skip(this.text.slice(skipped.length), countLineEnds(`${skipped}x`));
      if (!isAllBlank || this.isComplete) return;
      await this.readPart();
    }
  }

  private async readPart(): Promise<string> {
    const { value, done } = (await this.parts.next()) as IteratorResult<string, undefined>;
    if (done) this.isComplete = true;
    else this.text += value;
    return value ?? '';
  }
}

/** A carriage return at the end may be the first half of a line end. */
const countLineEnds = (text: string): number => text.match(/\r\n|\n|\r(?=[^])/g)?.length ?? 0;

/** The first line of a text, and the rest. */
function splitFirstLine(text: string): [line: string, rest: string] {
  const end = /\r\n|\n|\r/.exec(text.length > MAX_ROW_LENGTH ? text.slice(0, MAX_ROW_LENGTH) : text);
  return end ? [text.slice(0, end.index), text.slice(end.index + end[0].length)] : [text, ''];
}

interface FoundHeader extends Pick<Candidate, 'end' | 'nextLine'> {
  header: CsvHeader;
}

function findHeader(start: FileStart, options: HeaderOptions): FoundHeader {
  const named = options.delimiter ?? start.separator;
  const delimiterSource = options.delimiter === undefined ? 'sep=' : '--delimiter';
  const chosen = chooseHeader(start, named ? [named] : DELIMITERS, options);
  if (!named) return locateHeader(start, chosen, options);
  const other = chosen.knownNames < MIN_KNOWN_NAMES ? chooseHeader(start, DELIMITERS, options) : chosen;
  const isOther = other.knownNames > chosen.knownNames && other.row.cells.length > 1;
  const { header, ...found } = locateHeader(start, isOther ? other : chosen, options);
  return { ...found, header: { ...header, ...(isOther ? { wrongDelimiter: named } : { delimiterSource }) } };
}

/** Chooses the first row with enough known names, or else the first line, whatever it contains. */
function chooseHeader({ text, line }: FileStart, delimiters: string[], options: HeaderOptions): Candidate {
  const candidates = delimiters.flatMap((delimiter) => candidatesOf(text, line, delimiter, options));
  const hasEnough = ({ knownNames }: Candidate): boolean => knownNames >= MIN_KNOWN_NAMES;
  const first =
    firstCandidate(candidates, (each) => hasEnough(each) && !each.isOfOthers) ?? firstCandidate(candidates, hasEnough);
  if (first) return first;
  const half = firstCandidate(candidates, (each) => isHalfKnown(each) && !isLoneCell(each, candidates));
  if (half) return half;
  const [firstLine] = splitFirstLine(text);
  const delimiter = delimiters.length === 1 ? delimiters[0] : mostFrequentDelimiter(firstLine);
  return candidates.find((each) => each.delimiter === delimiter) as Candidate;
}

const isHalfKnown = ({ row, knownNames }: Candidate): boolean => knownNames > 0 && knownNames * 2 >= row.cells.length;

/** Whether a row has only one cell, such as `Notes:`, and stands above rows of several. */
const isLoneCell = ({ row, delimiter }: Candidate, candidates: Candidate[]): boolean =>
  row.cells.length === 1 &&
  candidates.some((each) => each.delimiter === delimiter && each.row.line > row.line && each.row.cells.length > 1);

function candidatesOf(text: string, line: number, delimiter: string, options: HeaderOptions): Candidate[] {
  const parser = new CsvParser(delimiter, line);
  parser.push(text);
  const candidates: Candidate[] = [];
  let title = '';
  for (const row of parser.rows(true)) {
    const names = textsOf(row).slice(0, MAX_LOOKED_AT);
    // The cells of a broken row are split within quotation marks, so they are not names.
    const knownNames = row.problem === undefined ? names.filter(options.names.isKnown).length : 0;
    const isOfOthers = options.names.isOtherTable(title);
    const isBelowOthers = candidates.some((each) => each.isOfOthers);
    if (row.line - line >= MAX_HEADER_LINE && !isBelowOthers) break;
    const { end, line: nextLine } = parser.state;
    candidates.push({ row, end, nextLine, delimiter, knownNames, isOfOthers });
    if (names.length > 0) title = names.length === 1 ? (names[0] ?? '') : '';
    if (options.skipLines !== undefined) break;
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

function locateHeader(
  { line }: FileStart,
  { row, delimiter, end, nextLine }: Candidate,
  options: HeaderOptions,
): FoundHeader {
  const isPreambleNamed = options.skipLines === undefined && row.line > line;
  const preamble = isPreambleNamed ? { firstLine: line, lastLine: row.line - 1 } : undefined;
  const names = options.raw ? row.cells : row.cells.map(plainText);
  return { header: { names, line: row.line, delimiter, preamble }, end, nextLine };
}
