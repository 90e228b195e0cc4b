import { DELIMITERS, mostFrequentDelimiter } from '../datasets/fallback-delimiter';
import { decodeText, type EncodingProblem, MAX_ROW_LENGTH, requireRowLength } from '../datasets/open';
import { importError } from '../datasets/import-error';
import { type ColumnNames, isOtherTable } from './column-names';
import type { CsvFormat } from './csv-options';
import { CsvParser, type CsvRow } from './csv-parser';

/** Opens a file again. It is read twice, because the meaning of a column may depend on its last value. */
export type OpenFile = () => AsyncIterable<Buffer>;

/** The header of a CSV file, and how to read its rows. */
export interface CsvHeader {
  /** The names of the file's own columns, without those that a list of left-out values adds. */
  names: string[];
  /** One-based number of its line. */
  line: number;
  /** The number of the first line with text, if the header was detected. */
  firstLine?: number;
  delimiter: string;
  delimiterSource: 'header' | 'sep=' | '--delimiter';
}

/** A file of which the header has been read. */
export interface CsvText {
  header: CsvHeader;
  /** The rows below the header, part by part, without those that the operator skips. */
  parts: AsyncIterable<Iterable<CsvRow>>;
}

/** The columns that the list of what an import has left out has before those of the file. */
export const LEFT_OUT_COLUMNS = ['line', 'column', 'value', 'reason'];

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
  /** Index after the row. */
  end: number;
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
  onProblem: (problem: EncodingProblem) => void = () => undefined,
): Promise<CsvText> {
  const texts = decodeText(open(), format.encoding, onProblem);
  const start = await readStart(texts, format.skipLines);
  const { row, end, delimiter } = findHeader(start, format, names);
  const { skipLines, skipRows, raw } = format;
  const { cells, line, nextLine } = row;
  const isLeftOutList =
    cells.length > LEFT_OUT_COLUMNS.length && LEFT_OUT_COLUMNS.every((name, index) => cells[index]?.trim() === name);
  const firstColumn = isLeftOutList ? LEFT_OUT_COLUMNS.length : 0;
  const parser = new CsvParser(delimiter, nextLine, { firstColumn, skipRows, raw });
  parser.push(start.text.slice(end));
  const firstLine = skipLines === undefined ? start.line : undefined;
  const namedSource = delimiter === start.separator ? 'sep=' : 'header';
  const delimiterSource = format.delimiter === undefined ? namedSource : '--delimiter';
  const header: CsvHeader = { names: cells.slice(firstColumn), line, firstLine, delimiter, delimiterSource };
  return { header, parts: parser.parts(texts) };
}

const LINE_END = /\r\n|\n|\r/;

/** Reads the first lines, and drops those that are not looked at. */
async function readStart(parts: AsyncGenerator<string>, skipLines = 0): Promise<FileStart> {
  let [text, line, lineEnds, isEnd] = ['', 1, 0, false];
  while (!isEnd && lineEnds < skipLines + MAX_LINES_OF_OTHERS && text.length <= MAX_ROW_LENGTH) {
    const { value: part = '', done = false } = (await parts.next()) as IteratorResult<string, undefined>;
    isEnd = done;
    text += part;
    lineEnds += part.split(LINE_END).length - 1;
  }
  if (lineEnds === 0) requireRowLength(text.length, 1);
  const firstLine = (): string => text.split(LINE_END, 1)[0] ?? '';
  const dropLine = (): void => {
    const { length } = firstLine();
    text = text.slice(text.startsWith('\r\n', length) ? length + 2 : length + 1);
    line++;
  };
  const [, separator] = SEPARATOR_LINE.exec(firstLine()) ?? [];
  if (separator !== undefined) dropLine();
  for (let n = 0; n < skipLines && text !== ''; n++) dropLine();
  while (text !== '' && firstLine().trim() === '') dropLine();
  return { text, line, separator };
}

/** Chooses the first row with enough known names, or else the first line, whatever it contains. */
function findHeader(start: FileStart, format: CsvFormat, names: ColumnNames): Candidate {
  const { delimiter: option } = format;
  // A line such as `sep=;` may not fit the file.
  const delimiters = option === undefined ? [start.separator ?? [], DELIMITERS].flat() : [option];
  const candidates = delimiters.flatMap((each) => candidatesOf(start, each, names, format));
  // Of the rows that one line is, the one with most known names comes first.
  candidates.sort((one, other) => one.row.line - other.row.line || other.knownNames - one.knownNames);
  const hasEnough = ({ knownNames }: Candidate): boolean => knownNames >= MIN_KNOWN_NAMES;
  const [firstLine = ''] = start.text.split(LINE_END, 1);
  const delimiter = option ?? start.separator ?? mostFrequentDelimiter(firstLine);
  const header =
    candidates.find((each) => hasEnough(each) && !each.isOfOthers) ??
    candidates.find(hasEnough) ??
    // A known name alone may be a title, such as `Notes:`, unless all of the file is one column.
    candidates.find((each) => isHalfKnown(each) && each.row.cells.length > 1) ??
    candidates.find(isHalfKnown) ??
    candidates.find((each) => each.delimiter === delimiter);
  if (!header) throw importError('The file is empty.');
  return header;
}

const isHalfKnown = ({ row, knownNames }: Candidate): boolean => knownNames > 0 && knownNames * 2 >= row.cells.length;

function candidatesOf(
  { text, line }: FileStart,
  delimiter: string,
  names: ColumnNames,
  { raw, skipLines }: CsvFormat,
): Candidate[] {
  const parser = new CsvParser(delimiter, line, { raw });
  parser.push(text);
  const candidates: Candidate[] = [];
  let title = '';
  for (const row of parser.rows(true)) {
    const isBelowOthers = candidates.some((each) => each.isOfOthers);
    if (row.line - line >= MAX_HEADER_LINE && !isBelowOthers) break;
    const texts = textsOf(row).slice(0, MAX_LOOKED_AT);
    // The cells of a broken row are split within quotation marks, so they are not names.
    const knownNames = row.problem === undefined ? texts.filter(names.isKnown).length : 0;
    candidates.push({ row, end: parser.end, delimiter, knownNames, isOfOthers: isOtherTable(title) });
    title = texts.length === 1 ? (texts[0] ?? '') : '';
    // The operator may have said which line is the first.
    if (skipLines !== undefined) break;
  }
  return candidates;
}
