import { DELIMITERS, mostFrequentDelimiter } from '../datasets/fallback-delimiter';
import { decodeText, type EncodingProblem, MAX_ROW_LENGTH, requireRowLength } from '../datasets/open';
import { importError } from '../datasets/import-error';
import { plainText } from './csv-formulas';
import type { ColumnNames } from './column-names';
import type { CsvFormat } from './csv-options';
import { CsvParser, type CsvRow } from './csv-parser';

/** Opens a file again. It is read twice, because the meaning of a column may depend on its last value. */
export type OpenFile = () => AsyncIterable<Buffer>;

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

/** A file of which the header has been read. */
export interface CsvText {
  header: CsvHeader;
  /** The rows below the header, part by part, without those that the operator skips. */
  parts: AsyncIterable<Iterable<CsvRow>>;
}

/** The first line of a file that names its delimiter, such as `sep=;`. */
const SEPARATOR_LINE = /^"?sep=(.)"?[\r\n]*$/i;

/** The header must be within this many lines, or below the tables of hosts and panelists within the second number. */
const MAX_HEADER_LINE = 20;
const MAX_LINES_OF_OTHERS = 200;

/** How many cells of a row are examined to detect the header. */
const MAX_LOOKED_AT = 1000;

/** A row with this many known names is the header. */
const MIN_KNOWN_NAMES = 3;

/** The first lines of a file. */
interface FileStart {
  /** The lines after `sep=;`, those that the operator skips, and blank ones. */
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

/**
 * Reads up to the header and detects its format.
 * @throws ImportError if the file has none, or cannot be read
 */
export async function openCsv(
  open: OpenFile,
  format: CsvFormat,
  names: ColumnNames,
  onProblem?: (problem: EncodingProblem) => void,
): Promise<CsvText> {
  const texts = decodeText(open(), format.encoding, onProblem);
  const start = await readStart(texts, format.skipLines);
  const { end, nextLine, ...header } = findHeader(start, format, names);
  async function* parts(): AsyncGenerator<Iterable<CsvRow>> {
    const parser = new CsvParser(header.delimiter, nextLine);
    parser.push(start.text.slice(end));
    yield wantedRows(parser.rows(false), format);
    for await (const text of texts) {
      parser.push(text);
      yield wantedRows(parser.rows(false), format);
    }
    yield wantedRows(parser.rows(true), format);
  }
  return { header, parts: parts() };
}

function* wantedRows(rows: Iterable<CsvRow>, { skipRows, raw }: CsvFormat): Generator<CsvRow> {
  for (const row of rows) {
    if (skipRows.some(([first, last]) => row.line >= first && row.line <= last)) continue;
    yield raw ? row : { ...row, cells: row.cells.map(plainText) };
  }
}

/** A line end. A carriage return at the end of a part may be the first half of one. */
const LINE_END = /\r\n|\n|\r(?=[^])/;
const LAST_LINE_END = /\r\n|\n|\r|$/;

async function readStart(parts: AsyncGenerator<string>, skipLines = 0): Promise<FileStart> {
  let [text, line, lineEnds, isEnd] = ['', 1, 0, false];
  let separator: string | undefined;
  let toSkip: number | undefined;
  let isFound = false;
  while (!isEnd && lineEnds < line - 1 + MAX_LINES_OF_OTHERS && text.length <= MAX_ROW_LENGTH) {
    const { value: part = '', done } = (await parts.next()) as IteratorResult<string, undefined>;
    isEnd = done ?? false;
    text += part;
    lineEnds += part.split(LINE_END).length - 1;
    // Once the first line with text is found, the others are only collected: to search long ones with each part takes minutes.
    while (!isFound) {
      const lineEnd = (isEnd ? LAST_LINE_END : LINE_END).exec(text);
      if (!lineEnd) requireRowLength(text.length, line);
      if (!lineEnd || text === '') break;
      const rest = text.slice(lineEnd.index + lineEnd[0].length);
      if (toSkip === undefined) {
        [, separator] = SEPARATOR_LINE.exec(text.slice(0, lineEnd.index)) ?? [];
        toSkip = separator === undefined ? skipLines : skipLines + 1;
      }
      isFound = toSkip === 0 && text.slice(0, lineEnd.index).trim() !== '';
      if (isFound) break;
      toSkip = Math.max(0, toSkip - 1);
      text = rest;
      line++;
    }
  }
  return { text, line, separator };
}

function findHeader(
  start: FileStart,
  { delimiter: option, raw, skipLines }: CsvFormat,
  names: ColumnNames,
): CsvHeader & Pick<Candidate, 'end' | 'nextLine'> {
  const named = option ?? start.separator;
  const choose = (delimiters: string[]): Candidate => chooseHeader(start, delimiters, names, skipLines !== undefined);
  const chosen = choose(named === undefined ? DELIMITERS : [named]);
  const other = named !== undefined && chosen.knownNames < MIN_KNOWN_NAMES ? choose(DELIMITERS) : chosen;
  const isWrong = other.knownNames > chosen.knownNames && other.row.cells.length > 1;
  const { row, delimiter, end, nextLine } = isWrong ? other : chosen;
  const source = option === undefined ? 'sep=' : '--delimiter';
  return {
    names: raw ? row.cells : row.cells.map(plainText),
    line: row.line,
    delimiter,
    preamble:
      skipLines === undefined && row.line > start.line ? { firstLine: start.line, lastLine: row.line - 1 } : undefined,
    delimiterSource: named === undefined || isWrong ? undefined : source,
    wrongDelimiter: isWrong ? named : undefined,
    end,
    nextLine,
  };
}

/**
 * Chooses the first row with enough known names, or else the first line, whatever it contains.
 * @param isFirst whether the operator has said which line is the first
 */
function chooseHeader(start: FileStart, delimiters: string[], names: ColumnNames, isFirst: boolean): Candidate {
  const candidates = delimiters.flatMap((delimiter) => candidatesOf(start, delimiter, names, isFirst));
  // Of the rows that one line is, the one with most known names comes first.
  candidates.sort((one, other) => one.row.line - other.row.line || other.knownNames - one.knownNames);
  const hasEnough = ({ knownNames }: Candidate): boolean => knownNames >= MIN_KNOWN_NAMES;
  const [firstLine = ''] = start.text.split(LINE_END, 1);
  const delimiter = delimiters.length === 1 ? delimiters[0] : mostFrequentDelimiter(firstLine);
  const header =
    candidates.find((each) => hasEnough(each) && !each.isOfOthers) ??
    candidates.find(hasEnough) ??
    candidates.find((each) => isHalfKnown(each) && !isLoneCell(each, candidates)) ??
    candidates.find((each) => each.delimiter === delimiter);
  if (!header) throw importError('The file is empty.');
  return header;
}

const isHalfKnown = ({ row, knownNames }: Candidate): boolean => knownNames > 0 && knownNames * 2 >= row.cells.length;

/** Whether a row has only one cell, such as `Notes:`, and stands above rows of several. */
const isLoneCell = ({ row, delimiter }: Candidate, candidates: Candidate[]): boolean =>
  row.cells.length === 1 &&
  candidates.some((each) => each.delimiter === delimiter && each.row.line > row.line && each.row.cells.length > 1);

function candidatesOf({ text, line }: FileStart, delimiter: string, names: ColumnNames, isFirst: boolean): Candidate[] {
  const parser = new CsvParser(delimiter, line);
  parser.push(text);
  const candidates: Candidate[] = [];
  let title = '';
  for (const row of parser.rows(true)) {
    const isBelowOthers = candidates.some((each) => each.isOfOthers);
    if (row.line - line >= MAX_HEADER_LINE && !isBelowOthers) break;
    const texts = textsOf(row).slice(0, MAX_LOOKED_AT);
    // The cells of a broken row are split within quotation marks, so they are not names.
    const knownNames = row.problem === undefined ? texts.filter(names.isKnown).length : 0;
    const { end, line: nextLine } = parser.state;
    candidates.push({ row, end, nextLine, delimiter, knownNames, isOfOthers: names.isOtherTable(title) });
    title = texts.length === 1 ? (texts[0] ?? '') : '';
    if (isFirst) break;
  }
  return candidates;
}
