import { promisify } from 'node:util';
import { CsvError, parse } from 'csv-parse';
import type { EntityManager } from 'typeorm';
import { v7 as uuid } from 'uuid';
import { isUuid } from '../../api-schema/text';
import { INDUSTRY_EVENT } from '../../industry-events/industry-event.response';
import { Column, columnsOf } from './csv.columns';
import { CellFault, CSV_FIELDS, Draft } from './csv.fields';
import { asItWas } from './csv.formulas';
import type { CsvForm } from './csv.options';
import { LINES_OF_CSV, textsOf } from '../import/dataset-source';
import { CATALOGUE, lockOf } from '../../database/locks';
import { LEADS } from '../export/export.records';
import { ImportFault } from '../import/import-fault';
import type { UncheckedRecord } from '../import/import.service';
import { quoted } from '../terminal/quoted';

interface Row {
  cells: string[];
  /** on which it begins, from 1 */
  line: number;
}

/** Of a row, in MiB. Behind a quote that is never closed all of the file would be one. */
const LONGEST_ROW = 16;
/** Rows whose stored records are looked up together. */
const BATCH = 1000;

/** The records of a CSV file, in constant memory. */
export class CsvRecords {
  private columns: Column[] = [];

  constructor(
    private readonly form: CsvForm,
    private readonly organizationId: number,
  ) {}

  /**
   * Where a file lacks columns, records that are there already keep what they have in them.
   * @param transaction the one that writes: what it found stored stays as it is until its end
   * @throws ImportFault naming line and column
   */
  async *read(
    chunks: AsyncIterable<Buffer>,
    transaction: () => Promise<EntityManager>,
  ): AsyncGenerator<UncheckedRecord> {
    const rows = rowsOf(chunks, this.form.delimiter);
    const { value: head } = (await rows.next()) as { value: Row | undefined };
    if (!head) throw new ImportFault('the file is empty');
    this.columns = columnsOf(this.form.section, head.cells, this.form.mappings);
    const keepsStored = this.has('id', 'ref') && !this.hasEverything();
    for await (const batch of batches(rows)) {
      const stored = keepsStored ? await this.stored(batch, await transaction()) : undefined;
      for (const row of batch) {
        yield { section: this.form.section, record: this.recordOf(row, head, stored), line: row.line };
      }
    }
  }

  /** The same fault, with the column's head in place of the path. */
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

  private recordOf({ cells, line }: Row, head: Row, stored: Map<string, Draft> | undefined): Draft {
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
    return this.form.raw ? cell : asItWas(cell);
  }

  private idOf(cells: string[]): string | undefined {
    const draft: Draft = {};
    for (const { field, index } of this.columns) {
      if (field.name === 'id' || field.name === 'ref') field.put(draft, this.textOf(cells[index]), this.organizationId);
    }
    return isUuid(draft.id) ? draft.id.toLowerCase() : undefined;
  }

  private async stored(batch: Row[], manager: EntityManager): Promise<Map<string, Draft>> {
    const ids = batch.flatMap(({ cells }) => this.idOf(cells) ?? []);
    const records = await storedRecords(manager, this.form.section, this.organizationId, ids);
    return new Map(records.map((record) => [String(record.id), record]));
  }
}

/** Whether a field holds what a fault's path names: `tags` holds `tags[0].tagOptionId`. */
function covers(name: string, path: string): boolean {
  if (name === path || (name === 'ref' && path === 'id')) return true;
  return path.startsWith(`${name}[`) || path.startsWith(`${name}.`);
}

async function* rowsOf(chunks: AsyncIterable<Buffer>, delimiter: string): AsyncGenerator<Row> {
  const rows: Row[] = [];
  // A line end of two characters within quotes counts as two lines there.
  let twice = 0;
  let last = 0;
  const parser = parse({
    delimiter,
    max_record_size: LONGEST_ROW << 20,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
    // What the parser hands on by itself is lost where a fault comes after it.
    on_record: (cells: string[], { lines }) => {
      twice += count(cells, /\r\n/g);
      last = lines - twice;
      if (cells.some((cell) => cell.trim() !== '')) rows.push({ cells, line: last - count(cells, /\r\n|\n|\r/g) });
    },
  });
  parser.on('error', () => undefined); // whoever writes is told
  let fault: unknown;
  try {
    for await (const text of textsOf(chunks, LINES_OF_CSV)) {
      await promisify((told: Told) => void parser.write(text, told))();
      yield* rows.splice(0);
    }
  } catch (error) {
    fault = error;
  }
  // Only now is the last row known to have ended.
  await promisify((told: Told) => void parser.end(told))().catch((error: unknown) => (fault ??= error));
  yield* rows;
  if (fault !== undefined) throw fault instanceof CsvError ? rowFault(fault, last, twice) : fault;
}

type Told = (error?: Error | null) => void;

function rowFault({ code, lines }: CsvError & { lines?: number }, last: number, twice: number): ImportFault {
  const begin = `line ${last + 1} or one after it`;
  if (code === 'CSV_QUOTE_NOT_CLOSED') return new ImportFault(`${begin}: a quote is not closed`);
  if (code === 'CSV_MAX_RECORD_SIZE') {
    return new ImportFault(`${begin}: a row is longer than ${LONGEST_ROW} MiB (or a quote in it is not closed)`);
  }
  return new ImportFault(
    `line ${(lines ?? last + 1) - twice}: a quote stands where none may (within a cell it is doubled)`,
  );
}

const count = (cells: string[], what: RegExp): number =>
  cells.reduce((sum, cell) => sum + (/[\r\n]/.test(cell) ? (cell.match(what)?.length ?? 0) : 0), 0);

async function* batches(rows: AsyncIterable<Row>): AsyncGenerator<Row[]> {
  let batch: Row[] = [];
  let fault: unknown;
  try {
    for await (const row of rows) {
      batch.push(row);
      if (batch.length < BATCH) continue;
      yield batch;
      batch = [];
    }
  } catch (error) {
    fault = error;
  }
  yield batch;
  if (fault !== undefined) throw fault;
}

const STORED = {
  leads: `select row_to_json(r) as record
    from (${LEADS} where page.organization_id = $2 and page.id = any($1::uuid[])) r`,
  industryEvents: `with page as (select * from industry_events where id = any($1::uuid[]) and $2::integer is not null)
    select row_to_json(r) as record from (${INDUSTRY_EVENT}) r`,
};

/** Nobody changes them, or takes them away, before the transaction's end. */
const HELD = {
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

/**
 * What is stored of the leads of an organization, or of the catalogue, under some ids, held for the transaction.
 * @returns records without their moments, which stay, and without bookmarks
 */
async function storedRecords(
  manager: EntityManager,
  section: keyof typeof STORED,
  organizationId: number,
  ids: string[],
): Promise<Record<string, unknown>[]> {
  for (const statement of HELD[section]) await manager.query(statement, [ids, organizationId]);
  const rows = await manager.query<{ record: Record<string, unknown> }[]>(STORED[section], [ids, organizationId]);
  return rows.map(({ record: { createdAt: _, updatedAt: __, ...record } }) => record);
}
