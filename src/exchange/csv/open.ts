import { decodeText, requireRowLength } from '../datasets/open';
import { ImportError, NO_LOCATION } from '../datasets/import-error';
import { CsvParser, type CsvRow, ROW_EXPECTED } from './csv-parser';
import type { Mapping } from './mapping';

/** Opens a file from its beginning, each time that it is called. */
export type OpenFile = () => AsyncIterable<Buffer>;

/** How the bytes of a file become rows. */
export type Reading = Pick<Mapping, 'encoding' | 'delimiter' | 'headerLine' | 'lastLine' | 'skipLines' | 'raw'>;

/** A file of which the header has been read. */
export interface OpenedCsv {
  header: { names: string[]; line: number; nextLine: number };
  delimiter: string;
  /** The rows below the header, part by part. */
  parts: AsyncIterable<Iterable<CsvRow>>;
}

/** The first line of a file that names its delimiter, such as `sep=;`. */
const SEPARATOR_LINE = /^"?sep=(.)"?$/i;

/** The delimiter that a line such as `sep=;` names. */
export const namedDelimiter = (text: string): string | undefined =>
  SEPARATOR_LINE.exec(text.split(/\r\n|\n|\r/, 1)[0] ?? '')?.[1];

/**
 * Reads up to the header.
 * @param keepsText whether rows have their texts
 * @param invalid what becomes of bytes that are not text
 * @throws ImportError if the file has no header, or cannot be read
 */
export async function openCsv(
  open: OpenFile,
  { encoding, delimiter, headerLine, lastLine, skipLines = [], raw }: Reading,
  { keepsText = false, invalid = 'escape' }: { keepsText?: boolean; invalid?: Parameters<typeof decodeText>[2] } = {},
): Promise<OpenedCsv> {
  const texts = decodeText(open(), encoding, invalid);
  const start = await readFirstLine(texts);
  const named = namedDelimiter(start);
  const line = headerLine ?? (named === undefined ? 1 : 2);
  const skipped = new Set(skipLines);
  const isSkipped = (each: number): boolean => each < line || skipped.has(each);
  const lines = { isSkipped, lastLine: lastLine && Math.max(line, lastLine), raw, keepsText };
  const parser = new CsvParser(delimiter ?? named ?? ',', lines);
  const parts = readParts(parser, start, texts);
  for (let part = await parts.next(); !part.done; part = await parts.next()) {
    const rows = part.value;
    const { value: row } = rows.next() as IteratorResult<CsvRow, undefined>;
    if (!row) continue;
    if (row.problem !== undefined) throw fileError(line, row.problem, ROW_EXPECTED);
    if (row.line !== line) break;
    return {
      header: { names: row.cells, line, nextLine: row.nextLine },
      delimiter: delimiter ?? named ?? ',',
      parts: withFirst(rows, parts),
    };
  }
  throw fileError(
    line,
    line === 1 ? 'The file is empty.' : 'This line has no names of columns.',
    'the names of the columns',
  );
}

const fileError = (line: number, message: string, expected: string): ImportError =>
  new ImportError([{ ...NO_LOCATION, line, message, expected }]);

/** The text of a file up to the end of its first line, or more. */
async function readFirstLine(texts: AsyncGenerator<string>): Promise<string> {
  let start = '';
  for (;;) {
    const { value = '', done = false } = (await texts.next()) as IteratorResult<string, undefined>;
    start += value;
    if (done || /[\r\n]/.test(start)) return start;
    requireRowLength(start.length, 1);
  }
}

async function* readParts(
  parser: CsvParser,
  start: string,
  texts: AsyncGenerator<string>,
): AsyncGenerator<Generator<CsvRow>> {
  parser.push(start);
  yield parser.rows(false);
  for await (const text of texts) {
    parser.push(text);
    yield parser.rows(false);
  }
  yield parser.rows(true);
}

/** The rest of the part that the header is in, and the parts after it. */
async function* withFirst(
  first: Iterable<CsvRow>,
  parts: AsyncGenerator<Iterable<CsvRow>>,
): AsyncGenerator<Iterable<CsvRow>> {
  yield first;
  yield* parts;
}
