import { finished } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { EntityManager } from 'typeorm';
import type { LocatedIssue } from './import-error';
import type { ImportPlan, ReadRecord } from './import-plan';
import type { LeftOut } from './left-out';
import type { Counts } from './dataset';
import { resolveDuplicates } from './duplicates';
import { copyRows, copyText } from './copy-format';
import { SOURCE_CELLS_COLUMN, type Table } from './tables';
import { RESERVED_TABLE } from './write-statements';

/** How many records are sent to PostgreSQL at once. */
export const STAGE_BATCH_SIZE = 1000;

/** Rows of a file that are about the same record, or person, as others. */
export interface Repetitions {
  /** How many rows were dropped or merged because others are the same record. */
  repeatedRows: number;
  /** How many rows are most likely about the person of an earlier row, and are records of their own. */
  samePersonRows: number;
}

/** The temporary table of what a lenient import leaves out, in the order in which it is found. */
const LEFT_OUT = 'staged_left_out';

/**
 * The records of the file in temporary tables. Nothing is locked while the file is read, and memory does not grow with it.
 * Each row has the line of its record, the index of the record in its section, and the index of the entry in its array.
 */
export class Stage {
  private readonly tablesBySection: Map<string, Table[]>;
  /** Numbers of staged records by section. */
  readonly counts: Counts = {};
  private queued = 0;
  private leftOutCount = 0;
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
    await this.manager.query(`drop table if exists ${LEFT_OUT}`);
    await this.manager.query(`create temporary table ${LEFT_OUT} (n integer primary key, entry text)`);
    for (const table of this.tables) {
      await this.manager.query(`drop table if exists ${table.stage}`);
      await this.manager.query(`create temporary table ${table.stage} (${columnDefinitions(table)})`);
    }
  }

  /** Queues a record and what is left out of it. */
  async enqueue({ location, record, leftOut, cells }: ReadRecord): Promise<void> {
    if (location && record) {
      const { section } = location;
      if (cells) Object.assign(record, { [SOURCE_CELLS_COLUMN]: JSON.stringify(cells) });
      for (const table of this.tablesOf(section)) this.queue(table.stage, copyRows(table, { ...location, record }));
      this.counts[section] = (this.counts[section] ?? 0) + 1;
    }
    for (const each of leftOut) this.queueLeftOut(each);
    if (++this.queued % STAGE_BATCH_SIZE === 0) await this.flush();
  }

  private queue(table: string, rows: string): void {
    if (rows !== '') this.unsent.set(table, (this.unsent.get(table) ?? '') + rows);
  }

  private queueLeftOut(leftOut: LeftOut): void {
    this.queue(LEFT_OUT, `${++this.leftOutCount}\t${copyText(JSON.stringify(leftOut), { type: 'text' })}\n`);
  }

  /** Takes records out, and adds their rows to what is left out. @param reasons by the index of the record */
  async leaveOut(section: string, reasons: ReadonlyMap<number, LocatedIssue>): Promise<void> {
    const [main, ...lists] = this.tablesOf(section);
    if (reasons.size === 0 || !main) return;
    const rows = await this.manager.query<{ record_index: number; cells: string | null }[]>(
      `select record_index, ${SOURCE_CELLS_COLUMN} as cells from ${main.stage} where record_index = any($1)`,
      [[...reasons.keys()]],
    );
    const cellsByIndex = new Map(rows.map(({ record_index: index, cells }) => [index, cells]));
    for (const [index, { line, message: reason }] of reasons) {
      const cells = JSON.parse(cellsByIndex.get(index) ?? '[]') as string[];
      this.queueLeftOut({ line, column: null, value: null, reason, cells });
    }
    for (const { stage } of [main, ...lists]) {
      await this.manager.query(`delete from ${stage} where record_index = any($1)`, [[...reasons.keys()]]);
    }
    await this.flush();
    await this.writing;
  }

  /** What is left out, in the order in which it was found. */
  async *leftOut(): AsyncGenerator<LeftOut> {
    for (let first = 1; first <= this.leftOutCount; first += STAGE_BATCH_SIZE) {
      const rows = await this.manager.query<{ entry: string }[]>(
        `select entry from ${LEFT_OUT} where n between $1 and $2 order by n`,
        [first, first + STAGE_BATCH_SIZE - 1],
      );
      for (const { entry } of rows) yield JSON.parse(entry) as LeftOut;
    }
  }

  /** Writes what is queued, resolves duplicates and matches stored rows. The planner then knows the size of the tables. */
  async finish(organizationId: number, plan: ImportPlan): Promise<Repetitions> {
    await this.flush();
    await this.writing;
    // A small sample is enough to choose how to join.
    const stages = this.tables.map(({ stage }) => stage);
    await this.manager.query(`set local default_statistics_target = 10; analyze ${stages.join(', ')}`);
    const repeatedRows = await resolveDuplicates(this.manager, this.tablesOfOnlySection(), plan);
    await this.matchStoredRows(organizationId, plan);
    return { repeatedRows, samePersonRows: await this.countSamePerson(plan) };
  }

  private async countSamePerson({ personKey }: ImportPlan): Promise<number> {
    const [main] = this.tablesOfOnlySection();
    if (!personKey || !main) return 0;
    const key = personKey('s');
    const [row] = await this.manager.query<{ count: number }[]>(
      `select coalesce(sum(n - 1), 0)::integer as count
        from (select count(*) as n from ${main.stage} s where ${key} is not null group by ${key}) g`,
    );
    return row?.count ?? 0;
  }

  /**
   * Gives staged rows the ids of the stored rows that they match. Until the organization is locked, others may change what
   * is stored, so this is repeated then.
   */
  async matchStoredRows(organizationId: number, { match }: ImportPlan): Promise<void> {
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
   * Whether records match stored rows that others have added from a position on, while this import wrote new rows for them
   * at reserved positions.
   */
  async matchesAddedRows(organizationId: number, { match }: ImportPlan, position: string): Promise<boolean> {
    const [main] = this.tablesOfOnlySection();
    if (!match || !main) return false;
    const { stage, name } = main;
    const id = main.match[0] ?? '';
    const [row] = await this.manager.query<{ exists: boolean }[]>(
      `with added as materialized (
          select distinct k.key from ${name} t cross join lateral (${match.storedKeys('t')}) k (key)
          where t.organization_id = $1 and t.position >= $2
            and t.position < (select start from ${RESERVED_TABLE} where list = '${name}')
        )
        select exists (
          select from (
            select s.${id} as staged_id, (${match.findId('s')}) as id
            from (select s.* from ${stage} s where ${match.key('s')} in (select key from added) offset 0) s
          ) found where id <> staged_id
        )`,
      [organizationId, position],
    );
    return row?.exists ?? false;
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
  async countRecords({ onDuplicate, isLenient }: ImportPlan): Promise<Counts> {
    const [main] = this.tablesOfOnlySection();
    if ((!onDuplicate && !isLenient) || !main) return this.counts;
    const [row] = await this.manager.query<{ count: number }[]>(`select count(*)::integer as count from ${main.stage}`);
    return { ...this.counts, [main.section]: row?.count ?? 0 };
  }

  /** A partial file has one section. */
  private tablesOfOnlySection(): Table[] {
    const [section = ''] = Object.keys(this.counts);
    return this.tablesOf(section);
  }

  private tablesOf(section: string): Table[] {
    return this.tablesBySection.get(section) ?? [];
  }

  private async flush(): Promise<void> {
    const texts = [...this.unsent];
    this.unsent.clear();
    await this.writing;
    this.writing = this.copy(texts);
    // The next flush awaits it and gets its error; until then the rejection must not count as unhandled.
    this.writing.catch(() => undefined);
  }

  private async copy(texts: [table: string, text: string][]): Promise<void> {
    for (const [table, text] of texts) {
      const rows = this.client.query(copyFrom(`copy ${table} from stdin`));
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
