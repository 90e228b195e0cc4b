import type { EntityManager } from 'typeorm';
import type { Counts } from './dataset';
import { recordJson } from './record-sql';
import type { Table } from './tables';

/** How many records of a section an import created, updated, and found unchanged. */
export interface Outcome {
  created: number;
  updated: number;
  unchanged: number;
}

/** How many records the preview of a dry run shows. */
const PREVIEW_SIZE = 3;

/** Compares what is stored before and after an import, in its transaction. */
export class OutcomeCounter {
  private readonly mainTables: Table[];
  /** How many records of the file were stored before, by table. */
  private readonly countsBefore = new Map<string, number>();

  constructor(
    private readonly manager: EntityManager,
    private readonly organizationId: number,
    private readonly tables: Table[],
  ) {
    this.mainTables = tables.filter(({ list }) => !list);
  }

  /** Records what is stored of the records of the file. */
  async recordBefore(): Promise<void> {
    for (const table of this.mainTables) {
      const { name, stage, match, dataset } = table;
      const isInFile = dataset.shared?.matchingRows('t') ?? `t.${match[0]} in (select ${match[0]} from ${stage})`;
      await this.manager.query(`drop table if exists before_${name}`);
      await this.manager.query(`create temporary table before_${name} (key text, state text) on commit drop`);
      const [row] = await this.query<{ count: number }>(
        `with stored as (
            insert into before_${name} select t.${match[0]}::text, md5(${this.stateOf(table, 't')}) from ${name} t
            where ${isVisible(table, 't')} and (${isInFile}) returning key
          ) select count(*)::integer as count from stored`,
      );
      this.countsBefore.set(name, row?.count ?? 0);
    }
  }

  /** Locks the stored records of the file in the order of their keys, as all do who write several rows of a table. */
  async lockStoredRows(): Promise<void> {
    for (const { name, stage, match } of this.mainTables) {
      if (this.countsBefore.get(name) === 0) continue;
      await this
        .query(`select from ${name} t where t.organization_id = $1 and t.${match[0]} in (select ${match[0]} from ${stage})
        order by t.${match[0]} for no key update`);
    }
  }

  /** The outcome of each section, when all is written. */
  async compareAfter(imported: Counts): Promise<Record<string, Outcome>> {
    const outcomes: Record<string, Outcome> = {};
    for (const table of this.mainTables) {
      const count = imported[table.section] ?? 0;
      // Shared records may match stored ones by more than their keys, so that is found out in every case.
      const areAllNew = !table.isShared && this.countsBefore.get(table.name) === 0;
      const { created, updated } = areAllNew ? { created: count, updated: 0 } : await this.countChanges(table);
      outcomes[table.section] = { created, updated, unchanged: Math.max(0, count - created - updated) };
    }
    return outcomes;
  }

  /**
   * The ids of the records of the sections that report them, by the keys of the records. The database has numbered them.
   * @param isDryRun whether new records have none, because they are not going to be stored
   */
  async reportedIds(isDryRun: boolean): Promise<Record<string, Record<string, number | null>>> {
    const idsBySection: Record<string, Record<string, number | null>> = {};
    for (const { section, name, stage, match, dataset } of this.mainTables) {
      if (!dataset.reportsIds) continue;
      // A key comes from the file, and may be `__proto__`.
      const ids = Object.create(null) as Record<string, number | null>;
      const rows = await this.query<{ key: string; id: string; is_new: boolean }>(
        `select t.${match[0]} as key, t.id,
            not exists (select from before_${name} b where b.key = t.${match[0]}::text) as is_new
          from ${name} t where t.organization_id = $1 and t.${match[0]} in (select ${match[0]} from ${stage})`,
      );
      for (const { key, id, is_new: isNew } of rows) ids[key] = isDryRun && isNew ? null : Number(id);
      idsBySection[section] = ids;
    }
    return idsBySection;
  }

  /** The JSON texts of the first records as they are now stored. */
  async preview(): Promise<string[]> {
    const [main] = this.mainTables;
    if (!main) return [];
    const { name, stage, match, section } = main;
    const rows = await this.query<{ record: string }>(
      `select ${recordJson(this.tablesOf(section), 't')} as record
        from ${stage} s join ${name} t on t.${match[0]} = s.${match[0]} and ${isVisible(main, 't')}
        order by s.record_index limit ${PREVIEW_SIZE}`,
    );
    return rows.map(({ record }) => record);
  }

  private async countChanges(table: Table): Promise<Pick<Outcome, 'created' | 'updated'>> {
    const { name, stage, match } = table;
    const [row] = await this.query<{ created: number; updated: number }>(
      `select
        (select count(distinct s.${match[0]}) from ${stage} s
          where not exists (select from before_${name} b where b.key = s.${match[0]}::text))::integer as created,
        (select count(*) from before_${name} b
          join ${name} t on t.${match[0]}::text = b.key and ${isVisible(table, 't')}
          where b.state is distinct from md5(${this.stateOf(table, 't')}))::integer as updated`,
    );
    return row ?? { created: 0, updated: 0 };
  }

  private stateOf({ dataset, section }: Table, row: string): string {
    return dataset.comparableState?.(row) ?? recordJson(this.tablesOf(section), row);
  }

  private tablesOf = (section: string): Table[] => this.tables.filter((table) => table.section === section);

  private query<Row>(sql: string): Promise<Row[]> {
    return this.manager.query<Row[]>(sql, sql.includes('$1') ? [this.organizationId] : []);
  }
}

/** The condition that the organization sees a row. */
const isVisible = ({ isShared }: Table, row: string): string => (isShared ? 'true' : `${row}.organization_id = $1`);
