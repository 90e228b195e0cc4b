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

/** A record of a batch that is still the one that the import created. */
interface Classified {
  index: number;
  isChanged: boolean;
  isInUse: boolean;
}

/** What happens to the records of one batch. */
type BatchWork = (records: CreatedRecords, entries: CreatedEntry[]) => Promise<Classified[]>;

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
  async undo(audited: AuditedImport, options: UndoOptions = {}): Promise<Undo> {
    const tables = tablesOf(this.dataSource, this.datasets);
    const all = createdRecordsOf(this.dataSource, tables, this.feedResources.all);
    const statements = new UndoStatements(this.dataSource, tables, all, options.dryRun ?? false);
    const { manager } = this.dataSource;
    if (options.dryRun) {
      return this.dataSource.transaction('REPEATABLE READ', async (snapshot) => {
        await snapshot.query(`create temporary table ${DELETABLE_TABLE} (key text) on commit drop`);
        const work: BatchWork = (records, entries) => deleteUnchanged(snapshot, audited, statements, records, entries);
        return undoAll(snapshot, audited, statements, all, work, options);
      });
    }
    const work: BatchWork = (records, entries) =>
      withRetries(() =>
        this.dataSource.transaction(async (transaction) => {
          const { organizationId, importId } = audited;
          await lockOrganization(transaction, organizationId);
          await setAuditedImport(transaction, organizationId, 'imports undo', importId);
          for (const lock of statements.locks(records)) await transaction.query(lock, valuesOf(audited, entries));
          return deleteUnchanged(transaction, audited, statements, records, entries);
        }),
      );
    const result = await undoAll(manager, audited, statements, all, work, options);
    if (!audited.undoneAt || Object.keys(result.deleted).length > 0) await recordUndo(manager, audited);
    return result;
  }
}

/** Undoes all records of an import, one kind after the other. */
async function undoAll(
  manager: EntityManager,
  { organizationId, importId, at, finishedAt }: AuditedImport,
  statements: UndoStatements,
  all: CreatedRecords[],
  work: BatchWork,
  { onProgress = () => undefined }: UndoOptions,
): Promise<Undo> {
  const result: Undo = { deleted: {}, left: { changed: {}, inUse: {} }, examples: [] };
  let count = 0;
  for (const records of all) {
    let last: Pick<CreatedEntry, 'at' | 'seq'> = { at, seq: '0' };
    for (;;) {
      const values = [organizationId, importId, last.at, last.seq, finishedAt, BATCH_SIZE];
      const entries = await manager.query<CreatedEntry[]>(statements.page(records), values);
      if (entries.length === 0) break;
      addTo(result, records, entries, await work(records, entries));
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
  manager: EntityManager,
  audited: AuditedImport,
  statements: UndoStatements,
  records: CreatedRecords,
  entries: CreatedEntry[],
): Promise<Classified[]> {
  const values = [...valuesOf(audited, entries), audited.importId];
  const classified = await manager.query<Classified[]>(statements.classify(records), values);
  const deletable = classified.filter(({ isChanged, isInUse }) => !isChanged && !isInUse);
  const deleted = deletable.map(({ index }) => entries[index]!);
  if (deleted.length > 0) await manager.query(statements.delete(records), valuesOf(audited, deleted));
  return classified;
}

const valuesOf = ({ organizationId }: AuditedImport, entries: CreatedEntry[]): unknown[] => [
  organizationId,
  entries.map(({ seq }) => seq),
  entries.map(({ integer }) => integer),
  entries.map(({ uuid }) => uuid),
];

function addTo(
  { deleted, left, examples }: Undo,
  { resource }: CreatedRecords,
  entries: CreatedEntry[],
  classified: Classified[],
): void {
  for (const { index, isChanged, isInUse } of classified) {
    const reason = leftReason(isChanged, isInUse);
    const counts = reason ? left[reason] : deleted;
    counts[resource] = (counts[resource] ?? 0) + 1;
    if (!reason || examples.length === MAX_EXAMPLES) continue;
    const { integer, uuid } = entries[index]!;
    examples.push({ resource, id: [integer, uuid].filter((part) => part !== null).join(' '), reason });
  }
}

function leftReason(isChanged: boolean, isInUse: boolean): LeftReason | undefined {
  if (isChanged) return 'changed';
  return isInUse ? 'inUse' : undefined;
}
