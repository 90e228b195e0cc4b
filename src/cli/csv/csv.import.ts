import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { CellFault, Draft } from '../../dataset/cells';
import { REPLACEMENT_CHARACTER } from '../arguments';
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
    const { section, delimiter, mappings } = this.form;
    let heads: string[] | undefined;
    for await (const row of rowsOf(chunks, delimiter)) {
      if (!row.isUtf8) throw new ImportFault(`line ${row.line}: not UTF-8`);
      if (heads) {
        yield { section, record: this.recordOf(row, heads), line: row.line };
      } else {
        heads = row.cells;
        this.columns = columnsOf(section, heads, mappings);
      }
    }
    if (!heads) throw new ImportFault('the file is empty');
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

  private recordOf({ cells, line }: Row, heads: string[]): Draft {
    if (cells.length !== heads.length) {
      throw new ImportFault(`line ${line}: ${cells.length} cells, but there are ${heads.length} columns`);
    }
    const nameless = cells.findIndex((cell, index) => cell !== '' && heads[index]?.trim() === '');
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

/** The rows of a file that are not blank. */
async function* rowsOf(chunks: AsyncIterable<Buffer>, delimiter: string): AsyncGenerator<Row> {
  // csv-parse counts a CRLF within quotes as two lines.
  let extraLines = 0;
  let lastLine = 0;
  // csv-parse decodes bytes that are not UTF-8 to U+FFFD, which a sound file may contain too.
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isSound = true;
  async function* checked(): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      try {
        if (isSound) decoder.decode(chunk, { stream: true });
      } catch {
        isSound = false;
      }
      yield chunk;
    }
  }
  const parser = parse({
    bom: true,
    delimiter,
    max_record_size: MAX_ROW_MIB << 20,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    on_record: (cells: string[], { lines }) => {
      extraLines += count(cells, /\r\n/g);
      lastLine = lines - extraLines;
      const line = lastLine - count(cells, /\r\n|\n|\r/g);
      const isUtf8 = isSound || !cells.some((cell) => cell.includes(REPLACEMENT_CHARACTER));
      // csv-parse's types know only texts.
      return (cells.some((cell) => cell.trim() !== '') ? { cells, line, isUtf8 } : null) as never;
    },
  });
  pipeline(Readable.from(checked()), parser, () => undefined); // what fails is thrown by the parser
  try {
    yield* parser as AsyncIterable<Row>;
  } catch (fault) {
    throw fault instanceof CsvError ? rowFault(fault, lastLine, extraLines) : fault;
  }
}

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
