import { finished } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { EntityManager } from 'typeorm';
import type { Coverage, RecordLocation } from './coverage';
import type { Counts } from './dataset';
import { resolveDuplicates } from './duplicates';
import { copyRows } from './staged-rows';
import type { Table } from './tables';
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

/**
 * The records of the file in temporary tables. Nothing is locked while the file is read, and memory does not grow with it.
 * Each row has the line of its record, the index of the record in its section, and the index of the entry in its array.
 */
export class Stage {
  private readonly tablesBySection: Map<string, Table[]>;
  /** How many records of each section were queued. */
  private readonly counts = new Map<string, number>();
  /** Rows that were not sent to PostgreSQL yet, by their temporary table, in the format of COPY. */
  private readonly unsent = new Map<string, string>();
  /** The insertion of the last batch, which runs while the next one is read and checked. */
  private writing: Promise<unknown> = Promise.resolve();

  /** @param client the connection of `manager` */
  constructor(
    private readonly manager: EntityManager,
    private readonly client: ClientBase,
    private readonly tables: Table[],
  ) {
    const sections = new Set(tables.map(({ section }) => section));
    this.tablesBySection = new Map(
      [...sections].map((section) => [section, tables.filter((table) => table.section === section)]),
    );
  }

  /** Creates the tables anew: an earlier import may have left others on the connection. */
  async create(): Promise<void> {
    for (const table of this.tables) {
      await this.manager.query(`drop table if exists ${table.stage}`);
      await this.manager.query(`create temporary table ${table.stage} (${columnDefinitions(table)})`);
    }
  }

  async enqueue(record: StagedRecord): Promise<void> {
    const { section } = record;
    for (const table of this.tablesOf(section)) {
      const rows = copyRows(table, record);
      if (rows) this.unsent.set(table.stage, (this.unsent.get(table.stage) ?? '') + rows);
    }
    const count = (this.counts.get(section) ?? 0) + 1;
    this.counts.set(section, count);
    if (count % STAGE_BATCH_SIZE === 0) await this.flush(section);
  }

  /** Writes what is queued, resolves duplicates and matches stored rows. The planner then knows the size of the tables. */
  async finish(organizationId: number, coverage: Coverage): Promise<{ repeatedRows: number }> {
    for (const section of this.counts.keys()) await this.flush(section);
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
    const [section = ''] = this.counts.keys();
    return this.tablesOf(section);
  }

  private tablesOf(section: string): Table[] {
    return this.tablesBySection.get(section) ?? [];
  }

  private async flush(section: string): Promise<void> {
    const texts = this.tablesOf(section)
      .map((table) => ({ table, text: this.unsent.get(table.stage) ?? '' }))
      .filter(({ text }) => text !== '');
    for (const { table } of texts) this.unsent.delete(table.stage);
    await this.writing;
    this.writing = this.copy(texts);
    // The next flush awaits it and gets its error; until then the rejection must not count as unhandled.
    this.writing.catch(() => undefined);
  }

  private async copy(texts: { table: Table; text: string }[]): Promise<void> {
    for (const { table, text } of texts) {
      const rows = this.client.query(copyFrom(`copy ${table.stage} from stdin`));
      rows.end(text);
      await finished(rows);
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
