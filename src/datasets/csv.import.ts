import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import type { Draft } from './cells';
import { type Column, columnsOf, type CsvForm } from './csv.columns';
import { unescapeFormula } from './csv.formulas';
import type { CsvService } from './csv.service';
import type { UncheckedRecord } from './dataset';
import { MAX_ROW_MIB, textOf } from './dataset-file';
import { ImportFault } from './import-fault';
import type { Given, Place } from './moves';
import { quoted } from './quoted';

interface Row {
  cells: string[];
  /** on which it begins, from 1 */
  line: number;
}

/** The records of a CSV file, in constant memory. In columns that it lacks, stored records keep what they have. */
export class CsvRecords implements Given {
  readonly isPart = true;
  private columns: Column[] = [];

  constructor(
    private readonly csv: CsvService,
    private readonly form: CsvForm,
    private readonly organizationId: number,
  ) {}

  /** @throws ImportFault naming line and column */
  async *read(chunks: AsyncIterable<Buffer>): AsyncGenerator<UncheckedRecord> {
    const { section, delimiter } = this.form;
    let heads: string[] | undefined;
    for await (const row of rowsOf(textOf(chunks), delimiter)) {
      if (heads) {
        yield { section, record: this.recordOf(row, heads), line: row.line };
      } else {
        heads = row.cells;
        this.columns = columnsOf(this.csv, this.form, heads);
      }
    }
    if (!heads) throw new ImportFault('the file is empty');
  }

  has = (path: string): boolean => this.columns.some((column) => covers(column, path));

  merged(path: string, stored: string, given: string): string {
    const fields = this.columns.map(({ field }) => field);
    const merging = fields.flatMap(({ changes, merge }) => (changes === path && merge ? [merge] : []));
    const isWhole = merging.length === 0 || fields.some(({ name }) => name === path);
    return isWhole ? given : merging.reduce((merged, merge) => merge(merged, given), stored);
  }

  nameOf({ line }: Place, path: string): string {
    const heads = this.columns.filter((column) => covers(column, path)).map(({ head }) => quoted(head));
    return `line ${line}, ${heads.length > 0 ? `column ${heads.join(' or ')}` : path}`;
  }

  private recordOf({ cells, line }: Row, heads: string[]): Draft {
    if (cells.length !== heads.length) {
      throw new ImportFault(`line ${line}: ${cells.length} cells, but there are ${heads.length} columns`);
    }
    const nameless = cells.findIndex((cell, index) => cell !== '' && heads[index]?.trim() === '');
    if (nameless >= 0) throw new ImportFault(`line ${line}, column ${nameless + 1}: has no name in the first line`);
    const draft: Draft = {};
    for (const { field, index } of this.columns) {
      const cell = cells[index] ?? '';
      field.put(draft, this.form.raw ? cell : unescapeFormula(cell), this.organizationId);
    }
    draft.id ??= this.csv.datasets.of(this.form.section).csv?.newId?.();
    return draft;
  }
}

/** Whether a column changes what a path names: `tags` changes `tags[0].tagOptionId`. */
function covers({ field: { name, changes = name } }: Column, path: string): boolean {
  return path === changes || path.startsWith(`${changes}[`) || path.startsWith(`${changes}.`);
}

/** The rows of a file that are not blank. */
async function* rowsOf(text: AsyncIterable<string>, delimiter: string): AsyncGenerator<Row> {
  // csv-parse counts a CRLF within quotes as two lines.
  let extraLines = 0;
  let lastLine = 0;
  const parser = parse({
    delimiter,
    max_record_size: MAX_ROW_MIB << 20, // with a quote that is never closed, the rest of the file would be one row
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_records_with_empty_values: true,
    on_record: (cells: string[], { lines }) => {
      extraLines += count(cells, /\r\n/g);
      lastLine = lines - extraLines;
      // csv-parse's types know only texts.
      return { cells, line: lastLine - count(cells, /\r\n|\n|\r/g) } as never;
    },
  });
  pipeline(Readable.from(text), parser, () => undefined); // what fails is thrown by the parser
  try {
    yield* parser as AsyncIterable<Row>;
  } catch (fault) {
    throw fault instanceof CsvError ? rowFault(fault, lastLine, extraLines) : fault;
  }
}

function rowFault({ code, lines }: CsvError & { lines?: number }, lastLine: number, extraLines: number): ImportFault {
  if (code === 'CSV_QUOTE_NOT_CLOSED' || code === 'CSV_MAX_RECORD_SIZE') {
    const reason = `a quote is not closed, or a row is longer than ${MAX_ROW_MIB} MiB`;
    return new ImportFault(`line ${lastLine + 1} or one after it: ${reason}`);
  }
  return new ImportFault(`line ${(lines ?? lastLine + 1) - extraLines}: a quote within a cell must be doubled`);
}

const count = (cells: string[], what: RegExp): number => cells.join(' ').match(what)?.length ?? 0;
