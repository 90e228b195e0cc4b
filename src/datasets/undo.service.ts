import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { setAuditedImport } from '../access/audit-log.service';
import { type AuditedImport, recordUndo } from '../access/audited-imports';
import { FeedResources } from '../changes/feed-resource';
import { withRetries } from '../database/errors';
import { lockOrganization } from '../database/locks';
import { type Counts, Datasets } from './dataset';
import { tablesOf } from './tables';
import { type CreatedRecords, createdRecordsOf, DELETABLE_TABLE, UndoStatements } from './undo-statements';

/** Why a record that an import created is not deleted. */
export type LeftReason = 'changed' | 'inUse';

export interface LeftRecord {
  resource: string;
  id: string;
  reason: LeftReason;
}

/** What an undo does, or would do. */
export interface Undo {
  /** Numbers of deleted records by their resource. */
  deleted: Counts;
  left: Record<LeftReason, Counts>;
  /** The first records that are left. */
  examples: LeftRecord[];
  /** How many records the import has only given an association, without changing anything else of them. */
  linkedRecords: number;
}

export interface UndoOptions {
  dryRun?: boolean;
  /** Called after each batch with the number of records so far. */
  onProgress?: (records: number) => void;
}

/** An entry of the audit log that says that the import created a record. */
interface CreatedEntry {
  at: Date;
  seq: string;
  integer: string | null;
  uuid: string | null;
}

/** A record of a batch that is still the one that the import created, and why it stays. */
interface Classified {
  index: number;
  reason: LeftReason | null;
}

/** Runs the work of a batch in a transaction. */
type RunBatch = (work: (transaction: EntityManager) => Promise<Classified[]>) => Promise<Classified[]>;

/** So few are deleted while others wait for a tenth of a second at most. */
const BATCH_SIZE = 200;

const MAX_EXAMPLES = 10;

/** Deletes what an import created, as far as nobody has changed it since. */
@Injectable()
export class UndoService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly datasets: Datasets,
    private readonly feedResources: FeedResources,
  ) {}

  /**
   * Undoes an import in batches, each of which is a transaction. If it is interrupted, call it again to continue. A dry run
   * looks at the database as of one moment, and locks nothing.
   */
  async undo(audited: AuditedImport, { dryRun = false, onProgress }: UndoOptions = {}): Promise<Undo> {
    const tables = tablesOf(this.dataSource, this.datasets);
    const all = createdRecordsOf(this.dataSource, tables, this.feedResources.all);
    const statements = new UndoStatements(this.dataSource, tables, all, dryRun);
    if (dryRun) {
      return this.dataSource.transaction('REPEATABLE READ', async (snapshot) => {
        await snapshot.query(`create temporary table ${DELETABLE_TABLE} (key text) on commit drop`);
        return undoAll(snapshot, audited, all, statements, (work) => work(snapshot), onProgress);
      });
    }
    const { manager } = this.dataSource;
    const runBatch: RunBatch = (work) => this.runBatch(audited, work);
    const result = await undoAll(manager, audited, all, statements, runBatch, onProgress);
    if (!audited.undoneAt || Object.keys(result.deleted).length > 0) await recordUndo(manager, audited);
    return result;
  }

  private runBatch({ organizationId, importId }: AuditedImport, work: Parameters<RunBatch>[0]): Promise<Classified[]> {
    return withRetries(() =>
      this.dataSource.transaction(async (transaction) => {
        await lockOrganization(transaction, organizationId);
        await setAuditedImport(transaction, organizationId, 'imports undo', importId);
        return work(transaction);
      }),
    );
  }
}

/** Undoes all records of an import, one kind after the other. */
async function undoAll(
  manager: EntityManager,
  audited: AuditedImport,
  all: CreatedRecords[],
  statements: UndoStatements,
  runBatch: RunBatch,
  onProgress: (records: number) => void = () => undefined,
): Promise<Undo> {
  const { organizationId, importId, at, finishedAt } = audited;
  const result: Undo = { deleted: {}, left: { changed: {}, inUse: {} }, examples: [], linkedRecords: 0 };
  let count = 0;
  for (const records of all) {
    const linked = statements.countLinked(records);
    if (linked) {
      const [row] = await manager.query<{ count: number }[]>(linked, [organizationId, importId, at, finishedAt]);
      result.linkedRecords += row?.count ?? 0;
    }
    let last: Pick<CreatedEntry, 'at' | 'seq'> = { at, seq: '0' };
    for (;;) {
      const values = [organizationId, importId, last.at, last.seq, finishedAt, BATCH_SIZE];
      const entries = await manager.query<CreatedEntry[]>(statements.page(records), values);
      if (entries.length === 0) break;
      const classified = await runBatch((transaction) =>
        deleteUnchanged(transaction, audited, statements, records, entries),
      );
      addTo(result, records, entries, classified);
      last = entries.at(-1)!;
      onProgress((count += entries.length));
    }
  }
  return result;
}

/**
 * Deletes the records of a batch that nobody has changed and nobody uses; in a dry run, it only remembers them. Their rows are
 * locked, so what others have committed is seen, and nobody can add to it.
 */
async function deleteUnchanged(
  transaction: EntityManager,
  { organizationId, importId }: AuditedImport,
  statements: UndoStatements,
  records: CreatedRecords,
  entries: CreatedEntry[],
): Promise<Classified[]> {
  const valuesOf = (some: CreatedEntry[]): unknown[] => [
    organizationId,
    some.map(({ seq }) => seq),
    some.map(({ integer }) => integer),
    some.map(({ uuid }) => uuid),
  ];
  for (const lock of statements.locks(records)) await transaction.query(lock, valuesOf(entries));
  const values = [...valuesOf(entries), importId];
  const classified = await transaction.query<Classified[]>(statements.classify(records), values);
  const deleted = classified.filter(({ reason }) => reason === null).map(({ index }) => entries[index]!);
  if (deleted.length > 0) await transaction.query(statements.delete(records), valuesOf(deleted));
  return classified;
}

function addTo(
  { deleted, left, examples }: Undo,
  { resource }: CreatedRecords,
  entries: CreatedEntry[],
  classified: Classified[],
): void {
  for (const { index, reason } of classified) {
    const counts = reason ? left[reason] : deleted;
    counts[resource] = (counts[resource] ?? 0) + 1;
    if (!reason || examples.length === MAX_EXAMPLES) continue;
    const { integer, uuid } = entries[index]!;
    examples.push({ resource, id: [integer, uuid].filter((part) => part !== null).join(' '), reason });
  }
}
