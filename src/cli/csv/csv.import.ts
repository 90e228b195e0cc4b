import { promisify } from 'node:util';
import { CsvError, parse } from 'csv-parse';
import { CellFault, Draft } from '../../dataset/cells';
import { ImportFault } from '../import/import-fault';
import type { UncheckedRecord } from '../import/import.service';
import type { Given } from '../import/moves';
import { datasetOf } from '../import/sections';
import { quoted } from '../terminal/quoted';
import { Column, columnsOf } from './csv.columns';
import { unescapeFormula } from './csv.formulas';
import type { CsvForm } from './csv.options';

interface Row {
  cells: string[];
  /** on which it begins, from 1 */
  line: number;
  isUtf8: boolean;
}

/** With a quote that is never closed, the rest of the file would be one row. */
const MAX_ROW_MIB = 16;

/** The records of a CSV file, in constant memory. */
export class CsvRecords {
  private columns: Column[] = [];

  constructor(
    private readonly form: CsvForm,
    private readonly organizationId: number,
  ) {}

  /** @throws ImportFault naming line and column */
  async *read(chunks: AsyncIterable<Buffer>): AsyncGenerator<UncheckedRecord> {
    let head: Row | undefined;
    for await (const rows of rowsOf(chunks, this.form.delimiter)) {
      if (!head && (head = rows.shift())) {
        if (!head.isUtf8) throw new ImportFault('line 1: not UTF-8');
        this.columns = columnsOf(this.form.section, head.cells, this.form.mappings);
      }
      if (!head) continue;
      for (const row of rows) {
        yield { section: this.form.section, record: this.recordOf(row, head), line: row.line };
      }
    }
    if (!head) throw new ImportFault('the file is empty');
  }

  /** What the file's columns say of a record: in others, stored records keep what they have. */
  given = (): Given => {
    const fields = this.columns.map(({ field }) => field);
    return {
      isPart: true,
      has: (path) => fields.some(({ name, changes = name }) => covers(changes, path)),
      merged: (path, stored, given) => {
        const merging = fields.flatMap(({ changes, merge }) => (changes === path && merge ? [merge] : []));
        const isWhole = merging.length === 0 || fields.some(({ name }) => name === path);
        return isWhole ? given : merging.reduce((merged, merge) => merge(merged, given), stored);
      },
    };
  };

  /** The same fault, with the name of the column in place of the path. */
  explain(fault: ImportFault): ImportFault {
    const [, line, path = '', reason] = /^(line \d+): \w+\[\d+\](?:\.([^\s:]+))?(.*)$/s.exec(fault.message) ?? [];
    if (!line) return fault;
    const column = this.columns.find(({ field }) => covers(field.name, path));
    const where = column ? `, column ${quoted(column.head)}` : path && `, ${path}`;
    return new ImportFault(`${line}${where}${reason}`);
  }

  private recordOf({ cells, line, isUtf8 }: Row, head: Row): Draft {
    if (!isUtf8) throw new ImportFault(`line ${line}: not UTF-8`);
    if (cells.length !== head.cells.length) {
      throw new ImportFault(`line ${line}: ${cells.length} cells, but there are ${head.cells.length} columns`);
    }
    const nameless = cells.findIndex((cell, index) => cell !== '' && head.cells[index]?.trim() === '');
    if (nameless >= 0) throw new ImportFault(`line ${line}, column ${nameless + 1}: has no name in the first line`);
    const draft: Draft = {};
    for (const { field, head: name, index } of this.columns) {
      try {
        field.put(draft, this.textOf(cells[index]), this.organizationId);
      } catch (fault) {
        if (!(fault instanceof CellFault)) throw fault;
        throw new ImportFault(`line ${line}, column ${quoted(name)}: ${fault.message}`);
      }
    }
    draft.id ??= datasetOf(this.form.section).csv?.newId?.();
    return draft;
  }

  private textOf(cell = ''): string {
    return this.form.raw ? cell : unescapeFormula(cell);
  }
}

/** Whether a field holds what the path of a fault names: `tags` holds `tags[0].tagOptionId`. */
function covers(name: string, path: string): boolean {
  if (name === path || (name === 'ref' && path === 'id')) return true;
  return path.startsWith(`${name}[`) || path.startsWith(`${name}.`);
}

/** The rows of a file, those of one chunk at a time; before a fault is thrown, the rows before it. */
async function* rowsOf(chunks: AsyncIterable<Buffer>, delimiter: string): AsyncGenerator<Row[]> {
  const rows: Row[] = [];
  const encoding = new EncodingCheck();
  // csv-parse counts a CRLF within quotes as two lines.
  let extraLines = 0;
  let lastLine = 0;
  const parser = parse({
    bom: true,
    delimiter,
    max_record_size: MAX_ROW_MIB << 20,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
    // As a stream it would lose the rows that it has read before a fault.
    on_record: (cells: string[], { lines }) => {
      extraLines += count(cells, /\r\n/g);
      lastLine = lines - extraLines;
      const line = lastLine - count(cells, /\r\n|\n|\r/g);
      if (cells.some((cell) => cell.trim() !== '')) rows.push({ cells, line, isUtf8: encoding.isSound(cells) });
    },
  });
  parser.on('error', () => undefined); // passed to the callbacks below
  const write = promisify((chunk: Buffer, done: Done) => void parser.write(chunk, done));
  const end = promisify((done: Done) => void parser.end(done));
  let fault: unknown;
  try {
    for await (const chunk of chunks) {
      encoding.check(chunk);
      await write(chunk);
      yield rows.splice(0);
    }
    encoding.check();
  } catch (error) {
    fault = error;
  }
  // Only the end completes the last row.
  await end().catch((error: unknown) => (fault ??= error));
  yield rows;
  if (fault !== undefined) throw fault instanceof CsvError ? rowFault(fault, lastLine, extraLines) : fault;
}

/** Finds cells that are not UTF-8. csv-parse decodes such bytes to U+FFFD, which a sound file may contain too. */
class EncodingCheck {
  private readonly decoder = new TextDecoder('utf-8', { fatal: true });
  private isUtf8 = true;

  /** @param chunk the next bytes; none at the end */
  check(chunk?: Buffer): void {
    try {
      if (this.isUtf8) this.decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      this.isUtf8 = false;
    }
  }

  isSound = (cells: string[]): boolean => this.isUtf8 || !cells.some((cell) => cell.includes('\ufffd'));
}

type Done = (error?: Error | null) => void;

function rowFault({ code, lines }: CsvError & { lines?: number }, lastLine: number, extraLines: number): ImportFault {
  const begin = `line ${lastLine + 1} or one after it`;
  if (code === 'CSV_QUOTE_NOT_CLOSED') return new ImportFault(`${begin}: a quote is not closed`);
  if (code === 'CSV_MAX_RECORD_SIZE') {
    return new ImportFault(`${begin}: a row is longer than ${MAX_ROW_MIB} MiB (or a quote in it is not closed)`);
  }
  return new ImportFault(`line ${(lines ?? lastLine + 1) - extraLines}: a quote within a cell must be doubled`);
}

const count = (cells: string[], what: RegExp): number =>
  cells.reduce((sum, cell) => sum + (/[\r\n]/.test(cell) ? (cell.match(what)?.length ?? 0) : 0), 0);
