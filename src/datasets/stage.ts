import type { EntityManager } from 'typeorm';
import type { Coverage, RecordLocation } from './coverage';
import type { Counts } from './dataset';
import { resolveDuplicates } from './duplicates';
import type { StagedColumn, Table } from './tables';
import { RESERVED_TABLE } from './write-statements';

/** How many records are sent to PostgreSQL at once. */
export const STAGE_BATCH_SIZE = 1000;

/** A valid record and where it was found. */
export interface StagedRecord extends RecordLocation {
  record: object;
}

/** A record whose stored row was found after a new one had been written. */
export interface MatchedRecord {
  /** Zero-based index of the record within its section. */
  index: number;
  /** The id of the new row. */
  formerId: string;
}

type Row = Record<string, unknown>;

/**
 * The records of the file in temporary tables. Nothing is locked while the file is read, and memory does not grow with it.
 * Each row has the line of its record, the index of the record in its section, and the index of the entry in its array.
 */
export class Stage {
  private readonly queues = new Map<string, StagedRecord[]>();
  /** The insertion of the last batch, which runs while the next one is read and checked. */
  private writing: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly manager: EntityManager,
    private readonly tables: Table[],
  ) {}

  /** Creates the tables anew: an earlier import may have left others on the connection. */
  async create(): Promise<void> {
    for (const table of this.tables) {
      await this.manager.query(`drop table if exists ${table.stage}`);
      await this.manager.query(`create temporary table ${table.stage} (${columnDefinitions(table)})`);
    }
  }

  async enqueue(record: StagedRecord): Promise<void> {
    const queue = this.queues.get(record.section) ?? [];
    this.queues.set(record.section, queue);
    if (queue.push(record) === STAGE_BATCH_SIZE) await this.flush(record.section);
  }

  /** Writes what is queued, resolves duplicates and matches stored rows. The planner then knows the size of the tables. */
  async finish(organizationId: number, coverage: Coverage): Promise<{ repeatedRows: number }> {
    for (const section of this.queues.keys()) await this.flush(section);
    await this.writing;
    // A small sample is enough to choose how to join.
    const stages = this.tables.map(({ stage }) => stage);
    await this.manager.query(`set local default_statistics_target = 10; analyze ${stages.join(', ')}`);
    const repeatedRows = await resolveDuplicates(this.manager, this.tablesOfOnlySection(), coverage);
    await this.matchStoredRows(organizationId, coverage);
    return { repeatedRows };
  }

  /**
   * Gives staged rows the ids of the stored rows that they match. Until the organization is locked, others may change what
   * is stored, so this is repeated then.
   */
  async matchStoredRows(organizationId: number, { match }: Coverage): Promise<void> {
    const [main, ...lists] = this.tablesOfOnlySection();
    if (!match || !main) return;
    const { stage } = main;
    const id = main.match[0] ?? '';
    await this.manager.query(
      `with found as materialized (
          select s.record_index, s.${id} as staged_id, (${match.findId('s')}) as id from ${stage} s
        )
        update ${stage} s set ${id} = f.id from found f
        where f.record_index = s.record_index and f.id is not null and f.id <> f.staged_id`,
      [organizationId],
    );
    await this.moveEntries(main, lists);
  }

  /**
   * Gives staged rows the ids of the stored rows that they match and that others have added from a position on, while this
   * import wrote the staged ones as new rows at reserved positions.
   * @returns the records whose ids have changed
   */
  async matchAddedRows(organizationId: number, { match }: Coverage, position: string): Promise<MatchedRecord[]> {
    const [main, ...lists] = this.tablesOfOnlySection();
    if (!match || !main) return [];
    const { stage, name } = main;
    const id = main.match[0] ?? '';
    const matched = await this.manager.query<[MatchedRecord[], number]>(
      `with added as materialized (
          select distinct k.key from ${name} t cross join lateral (${match.storedKeys('t')}) k (key)
          where t.organization_id = $1 and t.position >= $2
            and t.position < (select start from ${RESERVED_TABLE} where list = '${name}')
        ), found as materialized (
          select s.record_index, s.${id} as staged_id, (${match.findId('s')}) as id
          from (select s.* from ${stage} s where ${match.key('s')} in (select key from added) offset 0) s
        )
        update ${stage} s set ${id} = f.id from found f
        where f.record_index = s.record_index and f.id is not null and f.id <> f.staged_id
        returning s.record_index as index, f.staged_id as "formerId"`,
      [organizationId, position],
    );
    await this.moveEntries(main, lists);
    return matched[0];
  }

  /** Copies some of the records into tables of their own. @returns these tables */
  async select(tables: Table[], records: MatchedRecord[]): Promise<Table[]> {
    const selected = tables.map((table) => ({ ...table, stage: `selected_${table.name}` }));
    for (const [n, { stage }] of selected.entries()) {
      await this.manager.query(
        `create temporary table ${stage} on commit drop as select * from ${tables[n]?.stage} where record_index = any($1)`,
        [records.map(({ index }) => index)],
      );
    }
    return selected;
  }

  /** Gives the entries of arrays the ids of their records. */
  private async moveEntries(main: Table, lists: Table[]): Promise<void> {
    const id = main.match[0] ?? '';
    for (const { stage: list, owner } of lists) {
      await this.manager.query(
        `update ${list} l set ${owner?.name} = s.${id} from ${main.stage} s
          where s.record_index = l.record_index and l.${owner?.name} <> s.${id}`,
      );
    }
  }

  /** How many records of each section are written, out of those that were read. */
  async count(tables: Table[], read: Counts, { onDuplicate, skipRecord }: Coverage): Promise<Counts> {
    const [main] = tables;
    if ((!onDuplicate && !skipRecord) || !main) return read;
    const [row] = await this.manager.query<{ count: number }[]>(`select count(*)::integer as count from ${main.stage}`);
    return { ...read, [main.section]: row?.count ?? 0 };
  }

  /** A partial file has one section. */
  private tablesOfOnlySection(): Table[] {
    const [section] = this.queues.keys();
    return this.tables.filter((table) => table.section === section);
  }

  private async flush(section: string): Promise<void> {
    const batch = this.queues.get(section)?.splice(0) ?? [];
    const parts = this.tables
      .filter((table) => table.section === section)
      .map((table) => ({ table, rows: batch.flatMap((record) => rowsOf(table, record)) }))
      .filter(({ rows }) => rows.length > 0)
      .map(({ table, rows }) => ({ table, json: JSON.stringify(rows) }));
    await this.writing;
    this.writing = this.insert(parts);
    // The next flush awaits it and gets its error; until then the rejection must not count as unhandled.
    this.writing.catch(() => undefined);
  }

  private async insert(parts: { table: Table; json: string }[]): Promise<void> {
    for (const { table, json } of parts) {
      const rows = `json_to_recordset($1) as r (${columnDefinitions(table)})`;
      await this.manager.query(`insert into ${table.stage} select * from ${rows}`, [json]);
    }
  }
}

const columnDefinitions = ({ staged }: Table): string =>
  [
    'line integer',
    'record_index integer',
    'entry_index integer',
    ...staged.map(({ name, type }) => `${name} ${type}`),
  ].join(', ');

/** The rows of a record in a table: one, or one for each entry of the array that the table stores. */
function rowsOf(table: Table, { record, index, line }: StagedRecord): Row[] {
  const { list, owner, dataset, hasTextEntries, staged, match } = table;
  const fields = record as Row;
  const location = { line, record_index: index };
  if (!list) return [{ ...location, ...columnValues(staged, fields) }];
  const entries = (fields[list.name] ?? []) as unknown[];
  return entries.map((entry, entryIndex) => {
    const values = hasTextEntries ? { [match[1] ?? '']: entry } : columnValues(staged, entry as Row);
    return {
      ...location,
      entry_index: entryIndex,
      ...values,
      position: entryIndex,
      [owner?.name ?? '']: fields[dataset.key],
    };
  });
}

/** The values of columns that are not null. */
function columnValues(columns: StagedColumn[], fields: Row): Row {
  const row: Row = {};
  for (const { name, outer, inner, initial } of columns) {
    const value = (inner === undefined ? fields[outer] : (fields[outer] as Row | null | undefined)?.[inner]) ?? initial;
    if (value !== null && value !== undefined) row[name] = value;
  }
  return row;
}
