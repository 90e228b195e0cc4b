import { finished } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { settledQuery } from '../../data/database/errors';
import { type IssueCollector, type LocatedIssue, NO_LOCATION } from './import-error';
import {
  type ImportContext,
  type ImportPlan,
  type LeftOut,
  type ReadRecord,
  type RecordLocation,
  runStatement,
} from './import-plan';
import type { Counts, Datasets } from './dataset';
import { resolveDuplicates } from './duplicates';
import { fetchBatches } from './record-sql';
import type { StagedColumn, Table } from './tables';
import { RESERVED_TABLE, SMALL_SAMPLE } from './write-statements';

/** How many records are sent to PostgreSQL at once. */
export const STAGE_BATCH_SIZE = 1000;

/** How many characters of them. Two batches are in memory, one of which is written, and a record has up to 16 MiB. */
const STAGE_BATCH_LENGTH = 4 << 20;

/** Rows of a file that are about the same record, or person, as others. */
export interface Repetitions {
  /** How many rows were dropped or merged because others are the same record. */
  repeatedRows: number;
  /** How many rows were left out because no stored record matches them. */
  notFound: number;
  /** How many rows are most likely about the person of an earlier row, and are records of their own. */
  samePersonRows: number;
}

/** A staged record that matches a row that others have added since it was written as a new one. */
export interface MatchedRecord {
  /** The index of the record in its section. */
  index: number;
  /** The id of the new row. */
  writtenId: string;
}

/** The staged records of one import. */
export interface StagedImport extends ImportContext {
  datasets: Datasets;
  plan: ImportPlan;
  stage: Stage;
  /** The tables that the file fills. */
  tables: Table[];
  isDryRun: boolean;
  /** Takes the errors of what a lenient import leaves out. */
  leftOutIssues?: IssueCollector;
}

/** The temporary table of what a lenient import leaves out. */
const LEFT_OUT = 'staged_left_out';

/**
 * The records of the file in temporary tables. Nothing is locked while the file is read, and memory does not grow with it.
 * Each row has the line of its record, the index of the record in its section, and the index of the entry in its array; that
 * of a record that a lenient import may still leave out has its cells, too.
 */
export class Stage {
  /** Numbers of staged records by section. */
  readonly counts: Counts = {};
  /** The tables of each section, that of its records first. */
  private readonly tablesBySection: Map<string, Table[]>;
  private queuedRecords = 0;
  private queuedLength = 0;
  /** Rows that were not sent to PostgreSQL yet, by their temporary table, in the format of COPY. */
  private readonly unsent = new Map<string, string>();
  /** The insertion of the last batch, which runs while the next one is read and checked. */
  private writing: Promise<unknown> = Promise.resolve();

  /** @param client the connection of the context's manager */
  constructor(
    private readonly context: ImportContext,
    private readonly client: ClientBase,
    private readonly tables: Table[],
    private readonly plan: ImportPlan,
  ) {
    const mains = tables.filter(({ list }) => !list);
    this.tablesBySection = new Map(mains.map((main) => [main.section, [main, ...main.lists]]));
  }

  /** Creates the tables anew: an earlier import may have left others on the connection. */
  async create(): Promise<void> {
    const definitions = this.tables.map((table) => [table.stage, stageDefinition(table)]);
    if (this.plan.isLenient) definitions.push([LEFT_OUT, '(line integer, entry json)']);
    for (const [name, definition] of definitions) {
      await this.context.manager.query(`drop table if exists ${name}`);
      await this.context.manager.query(`create temporary table ${name} ${definition}`);
    }
  }

  /**
   * Queues a record and what is left out of it.
   * @returns whether it is time to flush
   */
  enqueue({ location, record, issues, problem, rowText }: ReadRecord): boolean {
    if (location && record) {
      const { section } = location;
      for (const table of this.tablesOf(section))
        this.queue(table.stage, copyRows(table, location, record, this.plan, rowText));
      this.addToCount(section, 1);
    }
    if (this.plan.isLenient) {
      for (const { line, column, value, message: reason } of issues) {
        this.queueLeftOut({ line, column: column ?? '', value: String(value ?? ''), reason });
      }
      if (problem) this.queueRow(problem, rowText);
    }
    this.queuedRecords++;
    return this.queuedRecords >= STAGE_BATCH_SIZE || this.queuedLength >= STAGE_BATCH_LENGTH;
  }

  private queue(table: string, rows: string): void {
    if (rows !== '') this.unsent.set(table, (this.unsent.get(table) ?? '') + rows);
    this.queuedLength += rows.length;
  }

  private queueLeftOut(leftOut: LeftOut): void {
    this.queue(LEFT_OUT, `${leftOut.line ?? NULL}\t${copyText(leftOut, 'json')}\n`);
  }

  private queueRow({ line, message: reason }: LocatedIssue, rowText?: string): void {
    this.queueLeftOut({ line, column: null, value: null, reason, rowText });
  }

  /** Takes records out, and adds their rows to what is left out. @param reasons by the index of the record */
  async leaveOut(section: string, reasons: ReadonlyMap<number, LocatedIssue>): Promise<void> {
    const { manager } = this.context;
    const [main, ...lists] = this.tablesOf(section);
    if (reasons.size === 0 || !main) return;
    const indexes = [...reasons.keys()];
    const issues = [...reasons.values()];
    if (this.plan.isLenient) {
      // Their texts do not leave PostgreSQL: all of them may be larger than the memory.
      await manager.query(
        `insert into ${LEFT_OUT}
          select r.line, json_build_object('line', r.line, 'column', null, 'value', null, 'reason', r.reason, 'rowText', s.row_text)
          from unnest($1::integer[], $2::integer[], $3::text[]) with ordinality r (index, line, reason, n)
            join ${main.stage} s on s.record_index = r.index order by n`,
        [indexes, issues.map(({ line }) => line), issues.map(({ message }) => message)],
      );
    }
    for (const { stage } of [main, ...lists]) {
      await manager.query(`delete from ${stage} where record_index = any($1)`, [indexes]);
    }
    this.addToCount(section, -reasons.size);
  }

  /** What is left out, in the order of the file. A cursor reads it, in the transaction that writes the records. */
  async *leftOut(): AsyncGenerator<LeftOut> {
    // The longest entry says how many of them may be in memory at a time.
    const [{ size }] = await this.context.manager.query<[{ size: number }]>(
      `select greatest(1, least(${STAGE_BATCH_SIZE}, ${STAGE_BATCH_LENGTH} / max(length(entry::text)))) as size from ${LEFT_OUT}`,
    );
    const select = `select entry from ${LEFT_OUT} order by line, ctid`;
    for await (const rows of fetchBatches<{ entry: LeftOut }>(this.context, select, size)) {
      for (const { entry } of rows) yield entry;
    }
  }

  /** Writes what is queued, resolves duplicates and matches stored rows. The planner then knows the size of the tables. */
  async finish(): Promise<Repetitions> {
    await this.settle();
    const { manager } = this.context;
    const stages = this.tables.map(({ stage }) => stage);
    await manager.query(`${SMALL_SAMPLE}; analyze ${stages.join(', ')}`);
    const main = this.onlyTable;
    const repeatedRows = main ? await resolveDuplicates(manager, main, this.plan) : 0;
    if (main) this.addToCount(main.section, -repeatedRows);
    await this.matchStoredRows();
    const samePersonRows = await this.countSamePerson(this.plan);
    return { repeatedRows, samePersonRows, notFound: await this.leaveOutNew() };
  }

  /** Takes out the records that are not stored, if the import only updates others. @returns how many */
  private async leaveOutNew(): Promise<number> {
    if (!this.plan.isUpdateOnly || !this.onlyTable) return 0;
    const { name, stage, key, section } = this.onlyTable;
    const rows = await runStatement<{ index: number; line: number | null }>(
      this.context,
      `select s.record_index as index, s.line from ${stage} s
        where not exists (select from ${name} t where t.organization_id = $1 and t.${key} = s.${key})`,
    );
    const message = 'No stored record matches this row, and --update-only creates none.';
    const issue = { ...NO_LOCATION, expected: 'a row that matches', message };
    await this.leaveOut(section, new Map(rows.map(({ index, line }) => [index, { ...issue, line }])));
    return rows.length;
  }

  private addToCount(section: string, count: number): void {
    this.counts[section] = (this.counts[section] ?? 0) + count;
  }

  private async countSamePerson({ personKey }: ImportPlan): Promise<number> {
    if (!personKey || !this.onlyTable) return 0;
    const key = personKey('s');
    const [row] = await runStatement<{ count: number }>(
      this.context,
      `select coalesce(sum(n - 1), 0)::integer as count
        from (select count(*) as n from ${this.onlyTable.stage} s where ${key} is not null group by ${key}) g`,
    );
    return row?.count ?? 0;
  }

  /**
   * Gives staged rows the ids of the stored rows that they match, and the entries of their arrays those of their records.
   * Until the organization is locked, others may change what is stored, so this is repeated then.
   */
  async matchStoredRows(): Promise<void> {
    const { match } = this.plan;
    if (!match || !this.onlyTable) return;
    const { stage, key: id } = this.onlyTable;
    await runStatement(
      this.context,
      `with found as materialized (
          select s.record_index, s.${id} as staged_id, (${match.findId('s')}) as id from ${stage} s
        )
        update ${stage} s set ${id} = f.id from found f
        where f.record_index = s.record_index and f.id is not null and f.id <> f.staged_id`,
    );
    await this.moveEntries(this.onlyTable);
  }

  /** Gives the entries of arrays the ids of their records. */
  private async moveEntries({ stage, key: id, lists }: Table): Promise<void> {
    for (const { stage: list, owner } of lists) {
      await runStatement(
        this.context,
        `update ${list} l set ${owner?.name} = s.${id} from ${stage} s
          where s.record_index = l.record_index and l.${owner?.name} <> s.${id}`,
      );
    }
  }

  /**
   * Gives staged rows the ids of the stored rows that they match and that others have added from a position on, while this
   * import wrote new rows for them at reserved positions.
   * @returns the records whose ids have changed, and the ids of the new rows
   */
  async matchAddedRows(position: string): Promise<MatchedRecord[]> {
    const { match } = this.plan;
    if (!match || !this.onlyTable) return [];
    const { manager, organizationId } = this.context;
    const { stage, name, key: id } = this.onlyTable;
    const [matched] = await manager.query<[MatchedRecord[], number]>(
      `with reserved as (select start from ${RESERVED_TABLE} where list = '${name}'), added as materialized (
          select distinct k.key from ${name} t cross join lateral (${match.storedKeys('t')}) k (key)
          where t.organization_id = $1 and t.position >= $2 and t.position < (select start from reserved)
        ), found as materialized (
          select s.record_index, s.${id} as staged_id, (${match.findId('s')}) as id
          from (select s.* from ${stage} s where ${match.key('s')} in (select key from added) offset 0) s
        )
        update ${stage} s set ${id} = f.id from found f join ${name} t on t.organization_id = $1 and t.${id} = f.staged_id
        where f.record_index = s.record_index and f.id <> f.staged_id and t.position >= (select start from reserved)
        returning s.record_index as index, f.staged_id as "writtenId"`,
      [organizationId, position],
    );
    if (matched.length > 0) await this.moveEntries(this.onlyTable);
    return matched;
  }

  /** Keeps some of the records alone, in the transaction under way: the tables are made anew, because most rows go. */
  async narrow(records: readonly MatchedRecord[]): Promise<void> {
    const { manager } = this.context;
    const indexes = records.map(({ index }) => index);
    for (const { stage } of this.onlyTable ? [this.onlyTable, ...this.onlyTable.lists] : []) {
      await manager.query(`create temporary table kept as select * from ${stage} where record_index = any($1)`, [
        indexes,
      ]);
      await manager.query(`drop table ${stage}; alter table kept rename to ${stage}`);
    }
  }

  /** The table of the records of a partial file, which has one section; undefined if it has no records. */
  private get onlyTable(): Table | undefined {
    const [section = ''] = Object.keys(this.counts);
    return this.tablesOf(section)[0];
  }

  private tablesOf = (section: string): Table[] => this.tablesBySection.get(section) ?? [];

  /** Sends what is queued while the next records are read and checked, when the batch before it is written. */
  async flush(): Promise<void> {
    await this.writing;
    const texts = [...this.unsent];
    this.unsent.clear();
    this.queuedRecords = 0;
    this.queuedLength = 0;
    this.writing = this.copy(texts);
    // Whoever waits for it next gets its error; until then the rejection must not count as unhandled.
    this.writing.catch(() => undefined);
  }

  /** Waits until nothing is sent: only then may the connection be used for anything else. */
  async settle(): Promise<void> {
    await this.flush();
    await this.writing;
  }

  private async copy(texts: [table: string, text: string][]): Promise<void> {
    for (const [table, text] of texts) {
      const statement = `copy ${table} from stdin`;
      const rows = this.client.query(copyFrom(statement));
      rows.end(text);
      await settledQuery(statement, finished(rows));
    }
  }
}

/** Stored values have the very types of their columns, the length of a text and the scale of a number included. */
function stageDefinition({ name, staged }: Table): string {
  const columns = staged.map((column) =>
    column.isAsStored ? `t.${column.name}` : `null::${column.type} as ${column.name}`,
  );
  const position =
    'null::integer as line, null::integer as record_index, null::integer as entry_index, null::json as row_text';
  return `as select ${position}, ${columns.join(', ')} from ${name} t with no data`;
}

type Row = Record<string, unknown>;

/** The rows of a record in a table, one or one for each entry of the array that the table stores, in the format of COPY. */
function copyRows(
  table: Table,
  { index, line }: RecordLocation,
  record: object,
  { keepsMissing }: ImportPlan,
  rowText?: string,
): string {
  const { list, staged, owner, dataset, record: entryClass, key } = table;
  const fields = record as Row;
  // Joined cells are one text. Texts that are appended to each other stay many, which the garbage collector copies.
  const row = (entryIndex: number | undefined, valueOf: (column: StagedColumn) => unknown): string => {
    const cells = [
      String(line ?? NULL),
      String(index),
      String(entryIndex ?? NULL),
      copyText(list ? null : rowText, 'json'),
    ];
    for (const column of staged) cells.push(copyText(valueOf(column), column.type));
    return `${cells.join('\t')}\n`;
  };
  if (!list) return row(undefined, (column) => valueOf(column, fields, keepsMissing));
  const entries = (fields[list.name] ?? []) as unknown[];
  const rows = entries.map((entry, entryIndex) =>
    row(entryIndex, (column) => {
      if (column === owner) return fields[dataset.key];
      if (column.name === 'position') return entryIndex;
      if (!entryClass) return column.name === key ? entry : undefined;
      return valueOf(column, entry as Row);
    }),
  );
  return rows.join('');
}

function valueOf({ outer, inner, initial }: StagedColumn, fields: Row, keepsMissing = false): unknown {
  const value = fields[outer];
  const own = inner === undefined ? value : (value as Row | null | undefined)?.[inner];
  return own ?? (keepsMissing ? undefined : initial);
}

/** What begins or ends a value in the text format of COPY. */
const SPECIAL = /[\\\t\n\r]/;
const SPECIALS = /[\\\t\n\r]/g;
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

const NULL = '\\N';

/** A value of a column in the text format of PostgreSQL's COPY. */
function copyText(value: unknown, type: string): string {
  if (value === null || value === undefined) return NULL;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = inputText(value, type);
  return SPECIAL.test(text) ? text.replace(SPECIALS, (special) => ESCAPES[special] ?? special) : text;
}

/** The text that PostgreSQL's type reads as the value. */
function inputText(value: unknown, type: string): string {
  if (type === 'jsonb' || type === 'json') return JSON.stringify(value);
  if (Array.isArray(value)) return `{${value.map(arrayEntry).join(',')}}`;
  return textOf(value);
}

const textOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

const arrayEntry = (entry: unknown): string =>
  entry === null ? 'null' : `"${textOf(entry).replace(/["\\]/g, '\\$&')}"`;
