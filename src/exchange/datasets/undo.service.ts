import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { setAuditedImport } from '../../access/audit-log.service';
import { type AuditedImport, recordUndo } from '../../access/audited-imports';
import { FeedResources } from '../../feed/changes/feed-resource';
import { withRetries } from '../../data/database/errors';
import { lockOrganization } from '../../data/database/locks';
import { type Counts, Datasets } from './dataset';
import { tablesOf } from './tables';
import {
  COUNT_OUTCOMES,
  CREATE_ENTRIES,
  createdRecordsOf,
  SELECT_BATCHES,
  SELECT_LEFT,
  UndoStatements,
} from './undo-statements';

/** Why a record that an import created is not deleted. */
type LeftReason = 'changed' | 'inUse';

/** What an undo does, or would do. */
export interface Undo {
  /** Numbers of deleted records by their resource. */
  deleted: Counts;
  left: Record<LeftReason, Counts>;
  /** The first records that are left. */
  examples: { resource: string; id: string; reason: LeftReason }[];
}

export interface UndoOptions {
  dryRun?: boolean;
  /** Called after each batch with the number of records so far. */
  onProgress?: (records: number) => void;
}

interface Batch {
  resource: string;
  first: number;
  last: number;
}

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
    // One connection holds the temporary table.
    const runner = this.dataSource.createQueryRunner();
    const { manager } = runner;
    try {
      if (dryRun) {
        return await manager.transaction('REPEATABLE READ', () => this.undoAll(manager, audited, dryRun, onProgress));
      }
      const result = await this.undoAll(manager, audited, dryRun, onProgress);
      if (!audited.undoneAt || Object.keys(result.deleted).length > 0) await recordUndo(manager, audited);
      return result;
    } finally {
      await runner.release();
    }
  }

  private async undoAll(
    manager: EntityManager,
    { organizationId, importId, at, finishedAt }: AuditedImport,
    isDryRun: boolean,
    onProgress: (records: number) => void = () => undefined,
  ): Promise<Undo> {
    const tables = tablesOf(this.dataSource, this.datasets);
    const all = createdRecordsOf(this.dataSource, tables, this.feedResources.all);
    const statements = new UndoStatements(this.dataSource, tables, all, isDryRun);
    await manager.query(CREATE_ENTRIES);
    for (const records of all) {
      await manager.query(statements.collect(records), [organizationId, importId, at, finishedAt]);
    }
    for (const { resource, first, last } of await manager.query<Batch[]>(SELECT_BATCHES)) {
      const records = all.find((each) => each.resource === resource)!;
      const batch = [organizationId, first, last];
      const classify = () => manager.query(statements.classify(records), [...batch, importId]);
      const work = async (): Promise<void> => {
        for (const lock of statements.locks(records)) await manager.query(lock, batch);
        // The rows are locked, so what others have committed is seen, and nobody can add to it.
        await classify();
        await manager.query(statements.deletion(records), batch);
      };
      if (isDryRun) await classify();
      else await inAuditedTransaction(manager, organizationId, importId, work);
      onProgress(last);
    }
    return resultOf(manager);
  }
}

const inAuditedTransaction = (
  manager: EntityManager,
  organizationId: number,
  importId: string,
  work: () => Promise<void>,
): Promise<void> =>
  withRetries(() =>
    manager.transaction(async () => {
      await lockOrganization(manager, organizationId);
      await setAuditedImport(manager, organizationId, 'imports undo', importId);
      await work();
    }),
  );

async function resultOf(manager: EntityManager): Promise<Undo> {
  const result: Undo = { deleted: {}, left: { changed: {}, inUse: {} }, examples: [] };
  const counts =
    await manager.query<{ resource: string; outcome: LeftReason | 'deleted'; count: number }[]>(COUNT_OUTCOMES);
  for (const { resource, outcome, count } of counts) {
    const ofOutcome = outcome === 'deleted' ? result.deleted : result.left[outcome];
    ofOutcome[resource] = count;
  }
  result.examples = await manager.query(SELECT_LEFT, [MAX_EXAMPLES]);
  return result;
}
