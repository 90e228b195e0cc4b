import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { MAX_ROW_LENGTH, MAX_ROW_MIB } from '../datasets/file-text';
import { ImportError, NO_LOCATION } from '../datasets/import-error';
import type { CsvText } from './csv-text';

export interface CsvRow {
  cells: string[];
  /** One-based number of the line on which the row begins. */
  line: number;
}

/** The rows of a file that are not blank, the header included. */
export async function* parseRows({ text, delimiter, skippedLines }: CsvText): AsyncGenerator<CsvRow> {
  // csv-parse counts a CRLF within quotes as two lines, and does not know of skipped ones.
  let surplusLines = -skippedLines;
  let lastLine = skippedLines;
  const parser = parse({
    delimiter,
    // With a quote that is never closed, the rest of the file would be one row.
    max_record_size: MAX_ROW_LENGTH,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_records_with_empty_values: true,
    on_record: (cells: string[], { lines }) => {
      surplusLines += countMatches(cells, /\r\n/g);
      lastLine = lines - surplusLines;
      // The types of csv-parse only know rows of texts.
      return { cells, line: lastLine - countMatches(cells, /\r\n|\n|\r/g) } as never;
    },
  });
  // The parser passes on what fails before it.
  pipeline(Readable.from(text), parser, () => undefined);
  try {
    yield* parser as AsyncIterable<CsvRow>;
  } catch (error) {
    throw error instanceof CsvError ? rowError(error, lastLine, surplusLines) : error;
  }
}

/**
 * @param lastLine on which the last row before the error ends
 * @param surplusLines that csv-parse counts too many
 */
function rowError(error: CsvError & { lines?: number }, lastLine: number, surplusLines: number): ImportError {
  const isUnclosed = error.code === 'CSV_QUOTE_NOT_CLOSED' || error.code === 'CSV_MAX_RECORD_SIZE';
  const reportedLine = error.lines === undefined ? lastLine + 1 : error.lines - surplusLines;
  const message = isUnclosed
    ? `Unclosed quotation mark, or a row over ${MAX_ROW_MIB} MiB, starting on this line.`
    : 'Stray quotation mark. Quote the whole cell and double the marks inside it.';
  const line = isUnclosed ? lastLine + 1 : reportedLine;
  return new ImportError([{ ...NO_LOCATION, line, expected: 'rows whose quotation marks are closed', message }]);
}

const countMatches = (cells: string[], pattern: RegExp): number => cells.join(' ').match(pattern)?.length ?? 0;
