import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import { type AuditedImport, recordUndo } from '../../access/audited-imports';
import { FeedResources } from '../../feed/changes/feed-resource';
import { type Counts, Datasets } from './dataset';
import { IssueCollector } from './import-error';
import { WHOLE_RECORDS } from './import-plan';
import { Stage } from './stage';
import { tablesOf } from './tables';
import type { LeftReason } from './undo-merge';
import { type BeforeRecord, Restoration } from './undo-restore';
import {
  COUNT_OUTCOMES,
  CREATE_ENTRIES,
  createdRecordsOf,
  SELECT_BATCHES,
  SELECT_LATER_IMPORTS,
  SELECT_LEFT,
  UNDONE,
  UndoStatements,
} from './undo-statements';
import { inUndoTransaction } from './undo-transaction';

/** A later import of records that an import has written. */
interface LaterImport {
  importId: string;
  at: Date;
  file: string | null;
}

/** A record, or a field of it, that stays as it is. */
interface LeftExample {
  resource: string;
  id: string;
  field: string | null;
  reason: LeftReason;
}

const MAX_EXAMPLES = 10;

/** What an undo does, or would do. */
export interface Undo {
  /** Numbers of deleted records by their resource. */
  deleted: Counts;
  /** Numbers of records that are brought back, by section. */
  restored: Counts;
  left: Record<LeftReason, Counts>;
  /** The first ones that stay for each reason. */
  examples: LeftExample[];
  /** Imports that should be taken back before this one. */
  laterImports: LaterImport[];
}

export interface UndoOptions {
  /** The records that the import changed; undefined if they are not known. */
  changes?: AsyncIterable<BeforeRecord>;
  dryRun?: boolean;
  /** Called after each batch with the number of records so far. */
  onProgress?: (records: number) => void;
}

interface OutcomeCount {
  resource: string;
  isCreated: boolean;
  outcome: LeftReason | typeof UNDONE;
  count: number;
}

interface Batch {
  resource: string;
  first: number;
  last: number;
}

/** Takes an import back: deletes what it created, and brings back what it changed, as far as nobody has changed it since. */
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
    // One connection holds the temporary tables.
    const runner = this.dataSource.createQueryRunner();
    const { manager } = runner;
    try {
      if (options.dryRun) {
        return await manager.transaction('REPEATABLE READ', () => this.undoAll(runner, audited, options));
      }
      const result = await this.undoAll(runner, audited, options);
      const hasChanged = Object.keys({ ...result.deleted, ...result.restored }).length > 0;
      if (!audited.undoneAt || hasChanged) await recordUndo(manager, audited);
      return result;
    } finally {
      await runner.release();
    }
  }

  private async undoAll(
    runner: QueryRunner,
    audited: AuditedImport,
    { changes, dryRun = false, onProgress = () => undefined }: UndoOptions,
  ): Promise<Undo> {
    const { manager } = runner;
    const { organizationId, importId, at, finishedAt } = audited;
    const importEntries = [organizationId, importId, at, finishedAt];
    const tables = tablesOf(this.dataSource, this.datasets);
    const created = createdRecordsOf(this.dataSource, tables, this.feedResources.all);
    const statements = new UndoStatements(this.dataSource, tables, created, dryRun);
    const laterImports = await manager.query<LaterImport[]>(SELECT_LATER_IMPORTS, importEntries);
    await manager.query(CREATE_ENTRIES);
    for (const records of created) await manager.query(statements.collect(records), importEntries);

    const context = { organizationId, manager, issues: new IssueCollector() };
    const stage = dryRun
      ? undefined
      : new Stage(context, (await runner.connect()) as PoolClient, tables, WHOLE_RECORDS);
    await stage?.create();
    const restoration = new Restoration(manager, audited, tables, statements, stage);
    // What the import changed comes first, because it may refer to what the import created.
    if (changes) await restoration.restoreAll(changes, onProgress);
    for (const batch of await manager.query<Batch[]>(SELECT_BATCHES)) {
      const records = created.find(({ resource }) => resource === batch.resource)!;
      const values = [organizationId, batch.first, batch.last];
      const classify = () => manager.query(statements.classify(records), [...values, importId]);
      const work = async (): Promise<void> => {
        for (const lock of statements.locks(records)) await manager.query(lock, values);
        // The rows are locked, so what others have committed is seen, and nobody can add to it.
        await classify();
        await manager.query(statements.deletion(records), values);
      };
      await (dryRun ? classify() : inUndoTransaction(manager, audited, work));
      onProgress(batch.last);
    }
    await restoration.restorePostponed();
    return { ...(await resultOf(manager)), laterImports };
  }
}

/** What became of the records. */
async function resultOf(manager: EntityManager): Promise<Omit<Undo, 'laterImports'>> {
  const deleted: Counts = {};
  const restored: Counts = {};
  const left = { changed: {}, inUse: {}, deleted: {}, gone: {}, taken: {} };
  for (const { resource, isCreated, outcome, count } of await manager.query<OutcomeCount[]>(COUNT_OUTCOMES)) {
    const undone = isCreated ? deleted : restored;
    const counts: Counts = outcome === UNDONE ? undone : left[outcome];
    counts[resource] = (counts[resource] ?? 0) + count;
  }
  const examples = await manager.query<LeftExample[]>(SELECT_LEFT, [MAX_EXAMPLES]);
  return { deleted, restored, left, examples };
}
