import { runStatement } from './import-plan';
import { recordJson } from './record-sql';
import type { StagedImport } from './stage';
import { isVisible, type Table } from './tables';

/** How many records of a section an import created, updated, and found unchanged. */
export interface Outcome {
  created: number;
  updated: number;
  unchanged: number;
}

/** How many records of the file were stored before, by table. */
type CountsBefore = ReadonlyMap<string, number>;

/** How many records the preview of a dry run shows. */
const PREVIEW_SIZE = 3;

const mainTables = ({ tables }: StagedImport): Table[] => tables.filter(({ list }) => !list);

/** Records what is stored of the records of the file, before an import writes them. */
export async function recordBefore(staged: StagedImport): Promise<CountsBefore> {
  const counts = new Map<string, number>();
  for (const table of mainTables(staged)) {
    const { name, stage, key, dataset } = table;
    const isInFile = dataset.shared?.matchingRows('t') ?? `t.${key} in (select ${key} from ${stage})`;
    await runStatement(staged, `drop table if exists before_${name}`);
    await runStatement(
      staged,
      `create temporary table before_${name} on commit drop as
          select t.${key} as key, md5(${stateOf(table, 't')}) as state from ${name} t where ${isVisible(table)} and (${isInFile})`,
    );
    const select = `select count(*)::integer as count from before_${name}`;
    const [row] = await runStatement<{ count: number }>(staged, select);
    counts.set(name, row?.count ?? 0);
  }
  return counts;
}

/** Locks the stored records of the file in the order of their keys, as all do who write several rows of a table. */
export async function lockStoredRows(staged: StagedImport, before: CountsBefore): Promise<void> {
  for (const { name, stage, key } of mainTables(staged)) {
    if (before.get(name) === 0) continue;
    await runStatement(
      staged,
      `select from ${name} t where t.organization_id = $1 and t.${key} in (select ${key} from ${stage})
        order by t.${key} for no key update`,
    );
  }
}

/** Compares what is stored before and after an import: the outcome of each section, when all is written. */
export async function compareAfter(staged: StagedImport, before: CountsBefore): Promise<Record<string, Outcome>> {
  const outcomes: Record<string, Outcome> = {};
  for (const table of mainTables(staged)) {
    const count = staged.stage.counts[table.section] ?? 0;
    // Shared records may match stored ones by more than their keys, so that is found out in every case.
    const areAllNew = !table.isShared && before.get(table.name) === 0;
    const { created, updated } = areAllNew ? { created: count, updated: 0 } : await countChanges(staged, table);
    outcomes[table.section] = { created, updated, unchanged: Math.max(0, count - created - updated) };
  }
  return outcomes;
}

/**
 * The ids of the records of the sections that report them, by the keys of the records. The database has numbered them. In a
 * dry run new records have none, because they are not going to be stored.
 */
export async function reportedIds(staged: StagedImport): Promise<Record<string, Record<string, number | null>>> {
  const reporting = Object.entries(staged.datasets.sections).filter(([, { reportsIds }]) => reportsIds);
  const idsBySection = Object.fromEntries(reporting.map(([section]) => [section, {}]));
  for (const { section, name, stage, key } of mainTables(staged).filter(({ dataset }) => dataset.reportsIds)) {
    const isStored = `exists (select from before_${name} b where b.key = t.${key})`;
    const id = staged.isDryRun ? `case when ${isStored} then t.id end` : 't.id';
    const [row] = await runStatement<{ ids: Record<string, number | null> }>(
      staged,
      `select coalesce(json_object_agg(t.${key}, ${id}), '{}') as ids
          from ${name} t where t.organization_id = $1 and t.${key} in (select ${key} from ${stage})`,
    );
    idsBySection[section] = row?.ids ?? {};
  }
  return idsBySection;
}

/** The JSON texts of the first records as they are now stored. */
export async function previewRecords(staged: StagedImport): Promise<string[]> {
  const [main] = mainTables(staged);
  if (!main) return [];
  const { name, stage, key } = main;
  const rows = await runStatement<{ record: string }>(
    staged,
    `select ${recordJson(main, 't')} as record
        from ${stage} s join ${name} t on t.${key} = s.${key} and ${isVisible(main)}
        order by s.record_index limit ${PREVIEW_SIZE}`,
  );
  return rows.map(({ record }) => record);
}

async function countChanges(staged: StagedImport, table: Table): Promise<Pick<Outcome, 'created' | 'updated'>> {
  const { name, stage, key } = table;
  const [row] = await runStatement<{ created: number; updated: number }>(
    staged,
    `select
        (select count(distinct s.${key}) from ${stage} s
          where not exists (select from before_${name} b where b.key = s.${key}))::integer as created,
        (select count(*) from before_${name} b join ${name} t on t.${key} = b.key and ${isVisible(table)}
          where b.state is distinct from md5(${stateOf(table, 't')}))::integer as updated`,
  );
  return row ?? { created: 0, updated: 0 };
}

/** SQL of what an import would change of a row. */
const stateOf = (table: Table, row: string): string => table.dataset.comparableState?.(row) ?? recordJson(table, row);
