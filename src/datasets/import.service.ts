import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import { beginAuditedImport } from '../access/audit-log.service';
import { completeAuditedImport } from '../access/audited-imports';
import { hasSqlState } from '../database/errors';
import { uuidV7 } from '../database/uuid';
import { CHANGED_SINCE_CHECKED } from '../errors/sql-states';
import { Checks } from './check';
import { type Counts, Datasets } from './dataset';
import { ImportError, importError, IssueCollector } from './import-error';
import type { ImportContext, ImportPlan, ImportSource, LeftOut, ReadRecord } from './import-plan';
import type { Outcome } from './outcomes';
import { objectRecords, wholeRecords } from './read-json';
import { type Repetitions, Stage, STAGE_BATCH_SIZE } from './stage';
import { readStoredTypes, type Table, tablesOf } from './tables';
import { explainConstraint } from './violated-constraint';
import { MatchedMeanwhile, Write, type Written } from './write';

export interface ImportResult<Plan = ImportPlan> extends Repetitions {
  plan: Plan;
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
  /** In a dry run of a partial file, the JSON texts of the first records as they would be stored. */
  preview: string[];
}

export interface ImportOptions<Plan = ImportPlan> {
  /** Called once a batch with the number of records that have been read. */
  onProgress?: (records: number) => void;
  /** Takes what a lenient import leaves out, when all is written, before PostgreSQL commits; again if it is repeated. */
  receiveLeftOut?: (leftOut: AsyncIterable<LeftOut>, plan: Plan) => Promise<void>;
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
}

/** The tables that triggers maintain. */
const TRIGGER_MAINTAINED_TABLES = ['lists', 'list_counts'];

/** How often the checks are repeated when others change what they have seen. */
const MAX_ATTEMPTS = 4;

/** What became of the records, and how many there were of each section. */
type Completed = Written & Pick<ImportResult, 'imported' | 'importId'>;

/** Thrown at the end of a dry run, so that its transaction is rolled back. */
class DryRunRollback extends Error {
  constructor(readonly written: Completed) {
    super('The dry run is rolled back.');
  }
}

/** An import that has been staged: what the last steps need. */
interface StagedFile<Plan extends ImportPlan> extends ImportContext {
  plan: Plan;
  stage: Stage;
  /** The tables that the file fills. */
  tables: Table[];
  /** The sections with invalid records, which are not staged. */
  incomplete: ReadonlySet<string>;
}

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
  async importRecords<Plan extends ImportPlan>(
    organizationId: number,
    source: ImportSource<Plan>,
    options: ImportOptions<Plan> = {},
  ): Promise<ImportResult<Plan>> {
    // One connection holds the temporary tables: that of a transaction under way, or a new one.
    const runner = this.dataSource.createQueryRunner();
    const { manager } = runner;
    const context: ImportContext = { organizationId, manager, issues: new IssueCollector(options.reportsAll) };
    try {
      const allTables = tablesOf(this.dataSource, this.datasets);
      await readStoredTypes(manager, allTables);
      const plan = await planned(source, context);
      const stage = new Stage(manager, (await runner.connect()) as PoolClient, organizationId, allTables, plan);
      await stage.create();
      const incomplete = await stageRecords(
        source.read(plan, context),
        stage,
        { ...context, plan },
        options.onProgress,
      );
      const repetitions = await stage.finish();
      const tables = allTables.filter(({ section }) => Number(stage.counts[section]) > 0);
      const written = await this.checkAndWrite({ ...context, plan, stage, tables, incomplete }, options);
      if (!options.dryRun) await analyze(manager, tables, written.imported);
      return { ...written, plan, ...repetitions };
    } finally {
      await runner.release();
    }
  }

  private async checkAndWrite<Plan extends ImportPlan>(
    staged: StagedFile<Plan>,
    options: ImportOptions<Plan>,
  ): Promise<Completed> {
    const { manager, organizationId, tables, plan, stage } = staged;
    const checks = new Checks(manager, organizationId, this.datasets, plan, stage);
    for (let attempt = 1; ; attempt++) {
      const issues = attempt === 1 ? staged.issues : new IssueCollector(options.reportsAll);
      await checks.checkAll(tables, staged.incomplete, issues);
      issues.throwIfAny();
      // The checks may have left out records.
      const imported = { ...this.datasets.noRecords(), ...(await stage.countRecords()) };
      try {
        // When others got as far as the reserved positions again and again, they have to wait.
        return await manager.transaction((transaction) =>
          this.write(transaction, staged, imported, attempt < MAX_ATTEMPTS, options),
        );
      } catch (error) {
        if (error instanceof DryRunRollback) return error.written;
        // Others have changed what the checks saw. Repeated, the checks report what is invalid now, except for constraints
        // that they do not know.
        const isOutdated = error instanceof MatchedMeanwhile || hasSqlState(error, CHANGED_SINCE_CHECKED);
        const explained =
          isOutdated && attempt === 1 ? error : await explainConstraint(error, manager, staged, this.datasets);
        if (explained !== error || attempt === MAX_ATTEMPTS || !isOutdated) throw explained;
      }
    }
  }

  private async write<Plan extends ImportPlan>(
    transaction: EntityManager,
    { organizationId, tables, plan, stage }: StagedFile<Plan>,
    imported: Counts,
    maySkipLocks: boolean,
    { dryRun: isDryRun = false, receiveLeftOut, onWritten, file, before }: ImportOptions<Plan>,
  ): Promise<Completed> {
    const checks = new Checks(transaction, organizationId, this.datasets, plan, stage);
    const staged = { organizationId, tables, imported, plan, stage, isDryRun };
    const importId = uuidV7();
    await beginAuditedImport(transaction, organizationId, importId);
    const written = await new Write(transaction, staged, checks).write(maySkipLocks);
    const { outcomes } = written;
    await completeAuditedImport(transaction, importId, { file: file ?? null, before: before ?? null, outcomes });
    const result = {
      ...written,
      imported,
      importId: isDryRun ? undefined : importId,
      ids: { ...this.noIds(), ...written.ids },
    };
    if (plan.isLenient) await receiveLeftOut?.(stage.leftOut(), plan);
    if (isDryRun) throw new DryRunRollback(result);
    await onWritten?.(transaction);
    return result;
  }

  /** No ids of each section that reports them. */
  private noIds(): ImportResult['ids'] {
    const sections = this.datasets.names.filter((section) => this.datasets.of(section).reportsIds);
    return Object.fromEntries(sections.map((section) => [section, {}]));
  }
}

/** An error by which a file has no plan is the last one. */
async function planned<Plan extends ImportPlan>(source: ImportSource<Plan>, context: ImportContext): Promise<Plan> {
  try {
    return await source.plan(context);
  } catch (error) {
    if (error instanceof ImportError) {
      addEndOfReading(error, context.issues);
      context.issues.throwIfAny();
    }
    throw error;
  }
}

/** Collects an error that ends the reading with the others. */
const addEndOfReading = ({ issues }: ImportError, to: IssueCollector): void =>
  to.add(...issues.map((issue) => ({ ...issue, order: issue.line ?? Infinity })));

/**
 * Stages all records.
 * @returns the sections that have invalid records
 * @throws ImportError if a partial file has no records
 */
async function stageRecords(
  records: AsyncIterable<Iterable<ReadRecord>>,
  stage: Stage,
  { issues, plan }: ImportContext & { plan: ImportPlan },
  onProgress: (records: number) => void = () => undefined,
): Promise<Set<string>> {
  const incomplete = new Set<string>();
  let count = 0;
  try {
    for await (const part of records) {
      for (const read of part) {
        count++;
        if (read.issues.length > 0) issues.add(...read.issues);
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
    addEndOfReading(error, issues);
  }
  // A partial file without records is most likely the wrong one; a whole dataset may be that of an empty organization.
  const isWrongFile = plan.isPartial && count === 0 && !issues.hasAny;
  if (isWrongFile) throw importError('The file has no records.', 'a file with records');
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
