import { CATALOG, lockImports } from '../../data/database/locks';
import { checkReadOnlyFields } from './check';
import { runStatement } from './import-plan';
import { lockLists } from './list-locks';
import {
  compareAfter,
  lockStoredRows,
  type Outcome,
  type Preview,
  preview,
  recordBefore,
  reportedIds,
} from './outcomes';
import type { StagedImport } from './stage';
import { ADVANCE_LISTS, CREATE_RESERVED_TABLE, writeStatements } from './write-statements';

/** What became of the records. */
export interface Written {
  outcomes: Record<string, Outcome>;
  ids: Record<string, Record<string, number | null>>;
  preview?: Preview;
}

/** So many records are written in 0.3 s, under the locks of their lists, and leave no positions unused. */
const MAX_LOCKED_RECORDS = 1000;

/** Positions that are left to others for each record: more than they can add to a list while it is written. */
const MARGIN_PER_RECORD = 16;

const atReservedPositions = (isOn: boolean): string =>
  `select set_config('lanyard.at_reserved_positions', '${isOn ? 'on' : 'off'}', true)`;

/**
 * Writes all staged records, in a transaction. docs/decisions/0025 says why in this way.
 * @param maySkipLocks whether many records may be written before their lists are locked
 */
export async function writeStaged(staged: StagedImport, maySkipLocks: boolean): Promise<Written> {
  const { manager, organizationId, tables, plan, stage } = staged;
  const shared = { ...staged, tables: tables.filter(({ isShared }) => isShared) };
  const own = { ...staged, tables: tables.filter(({ isShared }) => !isShared) };
  await lockImports(manager, organizationId);
  if (shared.tables.length > 0) await lockImports(manager, CATALOG);
  for (const references of plan.newReferences) await references.create(manager);
  const sections = new Set(own.tables.map(({ section }) => section));
  const count = [...sections].reduce((sum, section) => sum + (stage.counts[section] ?? 0), 0);
  if (!maySkipLocks || count <= MAX_LOCKED_RECORDS) return writeLocked(staged);

  // Others go on meanwhile. The lists are locked in the end, so that the rows are at their ends when they become visible.
  const position = await nextPosition(own);
  await stage.matchStoredRows();
  await manager.query(CREATE_RESERVED_TABLE);
  await manager.query(atReservedPositions(true));
  const ownWritten = await writeRows(own, count * MARGIN_PER_RECORD);
  await manager.query(atReservedPositions(false));
  // Nobody else of the organization has to wait while the shared rows are written.
  const sharedWritten = shared.tables.length > 0 ? await writeLocked(shared) : undefined;
  await lockLists(own);
  await manager.query(ADVANCE_LISTS, [organizationId]);
  const outcomes = await moveToAddedRows(own, position, ownWritten.outcomes);
  return { ...ownWritten, outcomes: { ...outcomes, ...sharedWritten?.outcomes } };
}

/**
 * Others have added rows that records match for which this import has written new ones. Now that nobody can add more, the new
 * ones go, and these records are written once more, into the rows of the others.
 */
async function moveToAddedRows(
  own: StagedImport,
  position: string,
  outcomes: Written['outcomes'],
): Promise<Written['outcomes']> {
  const { manager, organizationId, stage, tables } = own;
  const matched = await stage.matchAddedRows(position);
  const [main] = tables;
  const first = main && outcomes[main.section];
  if (!first || matched.length === 0) return outcomes;
  await manager.query(`delete from ${main.name} where organization_id = $1 and ${main.key} = any($2)`, [
    organizationId,
    matched.map(({ writtenId }) => writtenId),
  ]);
  await stage.narrow(matched);
  const { updated = 0 } = (await writeRows(own)).outcomes[main.section] ?? {};
  const moved = {
    created: first.created - matched.length,
    updated: first.updated + updated,
    unchanged: first.unchanged + matched.length - updated,
  };
  return { ...outcomes, [main.section]: moved };
}

/** Locks the lists, and then writes. */
async function writeLocked(staged: StagedImport): Promise<Written> {
  await lockLists(staged);
  await staged.stage.matchStoredRows();
  return writeRows(staged);
}

/** @param margin of positions that are left to others, if the rows are written before their lists are locked */
async function writeRows(staged: StagedImport, margin?: number): Promise<Written> {
  const { plan, tables, isDryRun } = staged;
  const before = await recordBefore(staged);
  if (margin !== undefined) await lockStoredRows(staged, before);
  for (const statement of writeStatements(tables, plan, margin)) await runStatement(staged, statement);
  await checkReadOnlyFields(staged);
  return {
    outcomes: await compareAfter(staged, before),
    ids: await reportedIds(staged),
    preview: isDryRun && plan.isPartial ? await preview(staged) : undefined,
  };
}

/** The position of the next row that others add to the list of a table. */
async function nextPosition({ manager, organizationId, tables: [table] }: StagedImport): Promise<string> {
  const [row] = await manager.query<{ position: string }[]>(
    'select next_position as position from lists where organization_id = $1 and list = $2',
    [organizationId, table?.name],
  );
  return row?.position ?? '0';
}
