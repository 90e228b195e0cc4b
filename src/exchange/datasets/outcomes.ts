import { classOf } from '../../fields/field-rules';
import { runStatement } from './import-plan';
import { recordJson } from './record-sql';
import type { StagedImport } from './stage';
import { fieldsIn, isVisible, type Table } from './tables';

/** How many records of a section an import created, updated, and found unchanged. */
export interface Outcome {
  created: number;
  updated: number;
  unchanged: number;
}

/** How many records of the file were stored before, by table. */
type CountsBefore = ReadonlyMap<string, number>;

/** What a dry run of a partial file would store and change. */
export interface Preview {
  /** The JSON texts of the first two records and the last one. */
  records: string[];
  /** How many stored values would be other ones, and how many would be gone, by the path of the field. */
  changes: Record<string, { changed: number; emptied: number }>;
}

/** How many records the preview of a dry run shows, the last of which is that of the file. */
const PREVIEW_SIZE = 3;

const mainTables = ({ tables }: StagedImport): Table[] => tables.filter(({ list }) => !list);

/** Records what is stored of the records of the file, before an import writes them. */
export async function recordBefore(staged: StagedImport): Promise<CountsBefore> {
  const counts = new Map<string, number>();
  for (const table of mainTables(staged)) {
    const { name, stage, key, dataset } = table;
    const isInFile = dataset.shared?.matchingRows('t') ?? `t.${key} in (select ${key} from ${stage})`;
    const former = isPreviewed(staged) ? `, ${recordJson(table, 't')}::jsonb as record` : '';
    await runStatement(staged, `drop table if exists before_${name}`);
    await runStatement(
      staged,
      `create temporary table before_${name} on commit drop as
          select t.${key} as key, md5(${stateOf(table, 't')}) as state${former} from ${name} t where ${isVisible(table)} and (${isInFile})`,
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

const isPreviewed = ({ isDryRun, plan }: StagedImport): boolean => isDryRun && plan.isPartial;

/** What is now stored of the records of the file, and how it differs from what was. */
export async function preview(staged: StagedImport): Promise<Preview> {
  const [main] = mainTables(staged);
  if (!main) return { records: [], changes: {} };
  const { name, stage, key } = main;
  const rows = await runStatement<{ record: string }>(
    staged,
    `select ${recordJson(main, 't')} as record
        from (select *, row_number() over (order by record_index) as nth, count(*) over () as n from ${stage}) s
        join ${name} t on t.${key} = s.${key} and ${isVisible(main)}
        where s.nth < ${PREVIEW_SIZE} or s.nth = s.n order by s.record_index`,
  );
  return { records: rows.map(({ record }) => record), changes: await changedFields(staged, main) };
}

async function changedFields(staged: StagedImport, main: Table): Promise<Preview['changes']> {
  const { name, key, dataset } = main;
  const paths = [...fieldsIn(dataset.record)]
    .filter(([path, schema]) => (schema.isArray || !classOf(schema)) && staged.plan.providesField(path))
    .map(([path]) => path.split('.'));
  const isEmpty = (value: string): string => `coalesce(${value}, 'null') in ('null', '""', '[]')`;
  const rows = await runStatement<{ path: string; changed: number; emptied: number }>(
    staged,
    `select p.path, count(*) filter (where not ${isEmpty('f.now')})::integer as changed,
          count(*) filter (where ${isEmpty('f.now')})::integer as emptied
        from before_${name} b join ${name} t on t.${key} = b.key and ${isVisible(main)}
        cross join lateral (select ${recordJson(main, 't')}::jsonb as record) n
        cross join jsonb_array_elements('${JSON.stringify(paths)}') with ordinality p (path, nth)
        cross join lateral (select array(select jsonb_array_elements_text(p.path)) as names) a
        cross join lateral (select b.record #> a.names as former, n.record #> a.names as now) f
        where f.former is distinct from f.now and not ${isEmpty('f.former')}
        group by p.path, p.nth order by p.nth`,
  );
  return Object.fromEntries(
    rows.map(({ path, changed, emptied }) => [(path as unknown as string[]).join('.'), { changed, emptied }]),
  );
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
