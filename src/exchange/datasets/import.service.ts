import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import { beginAuditedImport } from '../../access/audit-log.service';
import { completeAuditedImport } from '../../access/audited-imports';
import { hasSqlState } from '../../data/database/errors';
import { beginImport, endImport } from '../../data/database/locks';
import { uuidV7 } from '../../data/database/uuid';
import { CHANGED_SINCE_CHECKED } from '../../errors/sql-state-codes';
import { checkAll } from './check';
import { type Counts, Datasets } from './dataset';
import { ImportError, IssueCollector } from './import-error';
import type { ImportContext, ImportPlan, ImportSource, LeftOut, ReadRecord } from './import-plan';
import type { Outcome, Preview } from './outcomes';
import { objectRecords, wholeRecords } from './read-json';
import { type Repetitions, Stage, STAGE_BATCH_SIZE, type StagedImport } from './stage';
import { type Table, tablesOf } from './tables';
import { explainConstraint } from './violated-constraint';
import { writeStaged, type Written } from './write';

export interface ImportResult extends Repetitions {
  plan: ImportPlan;
  /** The ID by which the audit log knows the import; undefined in a dry run. */
  importId: string | undefined;
  /** Numbers of imported records by section. */
  imported: Counts;
  /** What became of them, for each section that the file has. */
  outcomes: Record<string, Outcome>;
  /**
   * The ids that the database gave to records, for each section whose dataset reports them, by the keys of the records.
   * A dry run has null for a record that is not stored yet.
   */
  ids: Record<string, Record<string, number | null>>;
  /** In a dry run of a partial file, what it would store and change. */
  preview?: Preview;
}

export interface ImportOptions {
  /** Called once a batch with the number of records that have been read. */
  onProgress?: (records: number) => void;
  /** Takes what a lenient import leaves out, when all is written, before PostgreSQL commits; again if it is repeated. */
  receiveLeftOut?: (leftOut: AsyncIterable<LeftOut>, plan: ImportPlan) => Promise<void>;
  /** Called when all is written, before PostgreSQL commits. */
  onWritten?: (transaction: EntityManager) => void | Promise<void>;
  /** The name of the file, for the audit log. */
  file?: string;
  /** The name of the file that is going to have the changed records as they were, for the audit log. */
  before?: string;
  /** Whether to do everything but commit. */
  dryRun?: boolean;
  /** Whether to report every error with its own line. */
  reportsAll?: boolean;
  /** Takes the errors of what a lenient import leaves out. */
  leftOutIssues?: IssueCollector;
}

/** The tables that triggers maintain. */
const TRIGGER_MAINTAINED_TABLES = ['lists', 'list_counts', 'audit_log'];

/** How often the checks are repeated when others change what they have seen. */
const MAX_ATTEMPTS = 4;

/** Thrown at the end of a dry run, so that its transaction is rolled back. */
class DryRunRollback extends Error {
  constructor(readonly written: WrittenImport) {
    super('The dry run is rolled back.');
  }
}

/** What the write step gives. */
type WrittenImport = Written & Pick<ImportResult, 'imported' | 'importId'>;

/** Imports records into an organization. It stores all of them, or nothing and reports every error. */
@Injectable()
export class ImportService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly datasets: Datasets,
  ) {}

  /** Imports a dataset that is one object. */
  import(organizationId: number, dataset: object): Promise<ImportResult> {
    const source = wholeRecords(this.datasets, (issues) => objectRecords(dataset, this.datasets, issues));
    return this.importRecords(organizationId, source);
  }

  /**
   * Imports a file in constant memory: plan, read, stage, check, write, report. It is read, checked and staged while nothing
   * is locked; one transaction then writes all records.
   * @throws ImportError with the errors of all records
   */
  async importRecords(
    organizationId: number,
    source: ImportSource,
    options: ImportOptions = {},
  ): Promise<ImportResult> {
    // One connection holds the temporary tables: that of a transaction under way, or a new one.
    const runner = this.dataSource.createQueryRunner();
    const { manager } = runner;
    const issues = new IssueCollector(options.reportsAll);
    const context = { organizationId, manager, issues };
    try {
      await beginImport(manager, organizationId);
      const allTables = tablesOf(this.dataSource, this.datasets);
      const plan = await planned(source, context);
      const stage = new Stage(context, (await runner.connect()) as PoolClient, allTables, plan);
      await stage.create();
      const incomplete = await stageRecords(source.read(plan, context), stage, plan, issues, options);
      const repetitions = await stage.finish();
      const tables = allTables.filter(({ section }) => Number(stage.counts[section]) > 0);
      const { datasets } = this;
      const staged = {
        ...context,
        datasets,
        plan,
        stage,
        tables,
        isDryRun: options.dryRun ?? false,
        leftOutIssues: options.leftOutIssues,
      };
      const written = await this.checkAndWrite(staged, incomplete, options);
      if (!options.dryRun) await analyze(manager, tables, written.imported);
      return { ...written, plan, ...repetitions };
    } finally {
      await endImport(manager, organizationId);
      await runner.release();
    }
  }

  /** @param incomplete the sections with invalid records, which are not staged */
  private async checkAndWrite(
    staged: StagedImport,
    incomplete: ReadonlySet<string>,
    options: ImportOptions,
  ): Promise<WrittenImport> {
    const { manager } = staged;
    for (let attempt = 1; ; attempt++) {
      const issues = attempt === 1 ? staged.issues : new IssueCollector(options.reportsAll);
      await checkAll(staged, incomplete, issues);
      issues.throwIfAny();
      try {
        // When others got as far as the reserved positions again and again, they have to wait.
        return await manager.transaction(() => this.write(staged, attempt < MAX_ATTEMPTS, options));
      } catch (error) {
        if (error instanceof DryRunRollback) return error.written;
        // Others have changed what the checks saw. Repeated, the checks report what is invalid now, except for constraints
        // that they do not know.
        const isOutdated = hasSqlState(error, CHANGED_SINCE_CHECKED);
        if (isOutdated && attempt === 1) continue;
        const explained = await explainConstraint(error, staged);
        if (explained !== error || attempt === MAX_ATTEMPTS || !isOutdated) throw explained;
      }
    }
  }

  private async write(
    staged: StagedImport,
    maySkipLocks: boolean,
    { receiveLeftOut, onWritten, file, before }: ImportOptions,
  ): Promise<WrittenImport> {
    const { manager, organizationId, plan, stage, isDryRun } = staged;
    const importId = uuidV7();
    await beginAuditedImport(manager, organizationId, importId);
    const written = await writeStaged(staged, maySkipLocks);
    const { outcomes } = written;
    await completeAuditedImport(manager, importId, { file: file ?? null, before: before ?? null, outcomes });
    const result = {
      ...written,
      imported: { ...this.datasets.noRecords(), ...stage.counts },
      importId: isDryRun ? undefined : importId,
    };
    if (plan.isLenient) await receiveLeftOut?.(stage.leftOut(), plan);
    if (isDryRun) throw new DryRunRollback(result);
    await onWritten?.(manager);
    return result;
  }
}

/** An error by which a file has no plan is the last one. */
async function planned(source: ImportSource, context: ImportContext): Promise<ImportPlan> {
  const { issues } = context;
  let plan: ImportPlan;
  try {
    plan = await source.plan(context);
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    issues.addLast(error);
    throw issues.error;
  }
  issues.throwIfAny();
  return plan;
}

/**
 * Stages all records.
 * @returns the sections that have invalid records
 */
async function stageRecords(
  records: AsyncIterable<Iterable<ReadRecord>>,
  stage: Stage,
  plan: ImportPlan,
  issues: IssueCollector,
  { onProgress = () => undefined, leftOutIssues }: ImportOptions,
): Promise<Set<string>> {
  const incomplete = new Set<string>();
  let count = 0;
  try {
    for await (const part of records) {
      for (const read of part) {
        count++;
        const found = plan.isLenient ? leftOutIssues : issues;
        found?.add(...read.issues);
        if (read.problem) found?.add(read.problem);
        if (read.location && !read.record) incomplete.add(read.location.section);
        if (!stage.enqueue(read)) continue;
        await stage.flush();
        onProgress(count);
      }
    }
    onProgress(count);
  } catch (error) {
    if (!(error instanceof ImportError)) {
      // Nobody gets the connection while it is written to.
      await stage.settle().catch(() => undefined);
      throw error;
    }
    issues.addLast(error);
  }
  return incomplete;
}

/** Lets running servers plan their statements anew for tables that have grown. The import has succeeded in any case. */
async function analyze(manager: EntityManager, tables: Table[], imported: Counts): Promise<void> {
  const count = Object.values(imported).reduce((sum, each) => sum + each, 0);
  if (count < STAGE_BATCH_SIZE) return;
  const names = [...tables.map(({ name }) => name), ...TRIGGER_MAINTAINED_TABLES];
  // Another import, which is writing, analyzes the table itself.
  await manager.query(`analyze (skip_locked) ${names.join(', ')}`).catch(() => undefined);
}
