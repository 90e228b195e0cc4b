import { promisify } from 'node:util';
import { CsvError, parse } from 'csv-parse';
import type { EntityManager } from 'typeorm';
import { v7 as uuid } from 'uuid';
import { isUuid } from '../../api-schema/text';
import { INDUSTRY_EVENT_COLUMNS } from '../../industry-events/industry-event.response';
import { CATALOGUE, lockOf } from '../../database/locks';
import { LEADS } from '../export/export.records';
import { ImportFault } from '../import/import-fault';
import type { UncheckedRecord } from '../import/import.service';
import { quoted } from '../terminal/quoted';
import { Column, columnsOf } from './csv.columns';
import { CellFault, CSV_FIELDS, Draft } from './csv.fields';
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

  /**
   * In columns that the file lacks, stored records keep what they have.
   * @param transaction the one that writes: what it reads here stays locked until its end
   * @throws ImportFault naming line and column
   */
  async *read(
    chunks: AsyncIterable<Buffer>,
    transaction: () => Promise<EntityManager>,
  ): AsyncGenerator<UncheckedRecord> {
    let head: Row | undefined;
    let keepsStored = false;
    for await (const rows of rowsOf(chunks, this.form.delimiter)) {
      if (!head && (head = rows.shift())) {
        if (!head.isUtf8) throw new ImportFault('line 1: not UTF-8');
        this.columns = columnsOf(this.form.section, head.cells, this.form.mappings);
        keepsStored = this.has('id', 'ref') && !this.hasEverything();
      }
      if (!head || rows.length === 0) continue;
      const stored = keepsStored ? await this.stored(rows, await transaction()) : undefined;
      for (const row of rows) {
        yield { section: this.form.section, record: this.recordOf(row, head, stored), line: row.line };
      }
    }
    if (!head) throw new ImportFault('the file is empty');
  }

  /** The same fault, with the name of the column in place of the path. */
  explain(fault: ImportFault): ImportFault {
    const [, line, path = '', reason] = /^(line \d+): \w+\[\d+\](?:\.([^\s:]+))?(.*)$/s.exec(fault.message) ?? [];
    if (!line) return fault;
    const column = this.columns.find(({ field }) => covers(field.name, path));
    const where = column ? `, column ${quoted(column.head)}` : path && `, ${path}`;
    return new ImportFault(`${line}${where}${reason}`);
  }

  private has = (...names: string[]): boolean => this.columns.some(({ field }) => names.includes(field.name));

  private hasEverything(): boolean {
    return CSV_FIELDS[this.form.section].every(({ name, take }) => !take || this.has(name));
  }

  private recordOf({ cells, line, isUtf8 }: Row, head: Row, stored: Map<string, Draft> | undefined): Draft {
    if (!isUtf8) throw new ImportFault(`line ${line}: not UTF-8`);
    if (cells.length !== head.cells.length) {
      throw new ImportFault(`line ${line}: ${cells.length} cells, but there are ${head.cells.length} columns`);
    }
    const nameless = cells.findIndex((cell, index) => cell !== '' && head.cells[index]?.trim() === '');
    if (nameless >= 0) throw new ImportFault(`line ${line}, column ${nameless + 1}: has no name in the first line`);
    const id = this.idOf(cells);
    const draft = (id !== undefined && stored?.get(id)) || {};
    for (const { field } of this.columns) field.reset?.(draft);
    for (const { field, head: name, index } of this.columns) {
      try {
        field.put(draft, this.textOf(cells[index]), this.organizationId);
      } catch (fault) {
        if (!(fault instanceof CellFault)) throw fault;
        throw new ImportFault(`line ${line}, column ${quoted(name)}: ${fault.message}`);
      }
    }
    if (this.form.section === 'leads') draft.id ??= uuid();
    return draft;
  }

  private textOf(cell = ''): string {
    return this.form.raw ? cell : unescapeFormula(cell);
  }

  private idOf(cells: string[]): string | undefined {
    const draft: Draft = {};
    for (const { field, index } of this.columns) {
      if (field.name === 'id' || field.name === 'ref') field.put(draft, this.textOf(cells[index]), this.organizationId);
    }
    return isUuid(draft.id) ? draft.id.toLowerCase() : undefined;
  }

  /** The stored records of these rows by id, locked for the transaction, without their times and bookmarks: those stay. */
  private async stored(rows: Row[], manager: EntityManager): Promise<Map<string, Draft>> {
    const ids = rows.flatMap(({ cells }) => this.idOf(cells) ?? []);
    for (const statement of LOCK[this.form.section]) await manager.query(statement, [ids, this.organizationId]);
    const statement = STORED[this.form.section];
    const stored = await manager.query<{ record: Draft }[]>(statement, [ids, this.organizationId]);
    return new Map(stored.map(({ record: { createdAt: _, updatedAt: __, ...own } }) => [String(own.id), own]));
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

const STORED = {
  leads: `select row_to_json(r) as record
    from (${LEADS} where page.organization_id = $2 and page.id = any($1::uuid[])) r`,
  industryEvents: `with page as (select * from industry_events where id = any($1::uuid[]) and $2::integer is not null)
    select row_to_json(r) as record from (select ${INDUSTRY_EVENT_COLUMNS} from page) r`,
};

/** Locks them against changes and deletes until the end of the transaction. */
const LOCK = {
  leads: [
    'select from leads where organization_id = $2 and id = any($1::uuid[]) order by id for update',
    `select from event_leads where organization_id = $2 and lead_id = any($1::uuid[]) order by event_id, lead_id
      for update`,
  ],
  industryEvents: [
    `select ${lockOf(String(CATALOGUE))} where $1::uuid[] is not null and $2::integer is not null`,
    'select from industry_events where id = any($1::uuid[]) and $2::integer is not null order by id for update',
  ],
};
