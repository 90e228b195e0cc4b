import type { Counts } from './dataset';
import { type ImportContext, runStatement } from './import-plan';
import { recordJson } from './record-sql';
import { isVisible, type Table } from './tables';

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
    private readonly context: ImportContext,
    tables: Table[],
  ) {
    this.mainTables = tables.filter(({ list }) => !list);
  }

  /** Records what is stored of the records of the file. */
  async recordBefore(): Promise<void> {
    for (const table of this.mainTables) {
      const { name, stage, key, dataset } = table;
      const isInFile = dataset.shared?.matchingRows('t') ?? `t.${key} in (select ${key} from ${stage})`;
      await this.query(`drop table if exists before_${name}`);
      await this.query(
        `create temporary table before_${name} on commit drop as
          select t.${key} as key, md5(${stateOf(table, 't')}) as state from ${name} t where ${isVisible(table)} and (${isInFile})`,
      );
      const [row] = await this.query<{ count: number }>(`select count(*)::integer as count from before_${name}`);
      this.countsBefore.set(name, row?.count ?? 0);
    }
  }

  /** Locks the stored records of the file in the order of their keys, as all do who write several rows of a table. */
  async lockStoredRows(): Promise<void> {
    for (const { name, stage, key } of this.mainTables) {
      if (this.countsBefore.get(name) === 0) continue;
      await this.query(
        `select from ${name} t where t.organization_id = $1 and t.${key} in (select ${key} from ${stage})
        order by t.${key} for no key update`,
      );
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
    for (const { section, name, stage, key } of this.mainTables.filter(({ dataset }) => dataset.reportsIds)) {
      const id = isDryRun
        ? `case when exists (select from before_${name} b where b.key = t.${key}) then t.id end`
        : 't.id';
      const [row] = await this.query<{ ids: Record<string, number | null> }>(
        `select coalesce(json_object_agg(t.${key}, ${id}), '{}') as ids
          from ${name} t where t.organization_id = $1 and t.${key} in (select ${key} from ${stage})`,
      );
      idsBySection[section] = row?.ids ?? {};
    }
    return idsBySection;
  }

  /** The JSON texts of the first records as they are now stored. */
  async preview(): Promise<string[]> {
    const [main] = this.mainTables;
    if (!main) return [];
    const { name, stage, key } = main;
    const rows = await this.query<{ record: string }>(
      `select ${recordJson(main, 't')} as record
        from ${stage} s join ${name} t on t.${key} = s.${key} and ${isVisible(main)}
        order by s.record_index limit ${PREVIEW_SIZE}`,
    );
    return rows.map(({ record }) => record);
  }

  private async countChanges(table: Table): Promise<Pick<Outcome, 'created' | 'updated'>> {
    const { name, stage, key } = table;
    const [row] = await this.query<{ created: number; updated: number }>(
      `select
        (select count(distinct s.${key}) from ${stage} s
          where not exists (select from before_${name} b where b.key = s.${key}))::integer as created,
        (select count(*) from before_${name} b join ${name} t on t.${key} = b.key and ${isVisible(table)}
          where b.state is distinct from md5(${stateOf(table, 't')}))::integer as updated`,
    );
    return row ?? { created: 0, updated: 0 };
  }

  private query = <Row>(sql: string): Promise<Row[]> => runStatement(this.context, sql);
}

/** SQL of what an import would change of a row. */
const stateOf = (table: Table, row: string): string => table.dataset.comparableState?.(row) ?? recordJson(table, row);
