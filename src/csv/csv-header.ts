import { DELIMITERS, mostFrequentDelimiter } from '../datasets/fallback-delimiter';
import { MAX_ROW_LENGTH, requireRowLength } from '../datasets/open';
import { importError } from '../datasets/import-error';
import { CsvParser, type CsvRow } from './csv-parser';

/** The header of a CSV file, and how to read its rows. */
export interface CsvHeader {
  names: string[];
  /** One-based number of its line. */
  line: number;
  delimiter: string;
  /** The lines with text before the header, if the header was detected. */
  preamble?: { firstLine: number; lastLine: number };
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
  /** Whether a name in the header is that of a field, or of another known column. */
  isKnownName: (name: string) => boolean;
}

/** The first line of a file that names its delimiter, such as `sep=;`. */
const SEPARATOR_LINE = /^"?sep=(.)"?$/i;

/** The header must be within this many lines. */
const MAX_HEADER_LINE = 20;

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
  delimiter: string;
  knownNames: number;
}

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
  await reader.readLines(MAX_HEADER_LINE);
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

/** These delimiters are detected only where the names of columns are known. */
const ALL_DELIMITERS = [...DELIMITERS, '|'];

/** Chooses the first row with enough known names, or else the first line, whatever it contains. */
function chooseHeader({ text, line }: FileStart, delimiters: string[], options: HeaderOptions): Candidate {
  const candidates = delimiters.flatMap((delimiter) => candidatesOf(text, line, delimiter, options));
  const first = firstCandidate(candidates, ({ knownNames }) => knownNames >= MIN_KNOWN_NAMES);
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
  for (const row of parser.rows(true)) {
    const names = row.cells.slice(0, MAX_LOOKED_AT).filter((cell) => cell.trim() !== '');
    // The cells of a broken row are split within quotation marks, so they are not names.
    const knownNames = row.problem === undefined ? names.filter((cell) => options.isKnownName(cell)).length : 0;
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
