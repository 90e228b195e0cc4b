import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { DataSource } from 'typeorm';
import { hasSqlState } from '../database/errors';
import { CHANGED_SINCE_CHECKED } from '../errors/sql-states';
import { Checks } from './checks';
import { type Coverage, FULL_COVERAGE } from './coverage';
import { type Counts, Datasets, type Records } from './dataset';
import { objectRecords } from './dataset-file';
import { ImportError, importError, IssueCollector } from './import-error';
import type { Outcome } from './outcomes';
import { RecordReader } from './record-reader';
import { RecordWriter, type StagedImport, type Written } from './record-writer';
import { Stage, STAGE_BATCH_SIZE } from './stage';
import { tablesOf } from './tables';

export interface ImportResult {
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
  /** How many rows were dropped or merged because others are the same record. */
  repeatedRows: number;
}

export interface ImportOptions {
  /** Called once a batch with the number of records that have been read. */
  onProgress?: (records: number) => void;
  /** Called when all is written, before PostgreSQL commits. */
  onWritten?: () => void | Promise<void>;
  /** Which fields the file provides; all of them by default. */
  coverage?: Coverage;
  /** Collects the errors; the reader of the records may add its own. */
  issues?: IssueCollector;
  /** Whether to do everything but commit. */
  dryRun?: boolean;
}

/** The tables that triggers maintain. */
const TRIGGER_MAINTAINED_TABLES = ['lists', 'list_counts'];

/** How often the checks are repeated when others change what they have seen. */
const MAX_ATTEMPTS = 4;

/** What became of the records, and how many there were of each section. */
type Completed = Written & Pick<ImportResult, 'imported'>;

/** Thrown at the end of a dry run, so that its transaction is rolled back. */
class DryRunRollback extends Error {
  constructor(readonly written: Completed) {
    super('The dry run is rolled back.');
  }
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
    const issues = new IssueCollector();
    return this.importRecords(organizationId, objectRecords(dataset, this.datasets, issues), { issues });
  }

  /**
   * Imports records in constant memory. They are read, checked and staged while nothing is locked; one transaction then
   * writes them all.
   * @throws ImportError with the errors of all records
   */
  async importRecords(organizationId: number, records: Records, options: ImportOptions = {}): Promise<ImportResult> {
    const { coverage = FULL_COVERAGE, issues = new IssueCollector() } = options;
    // One connection holds the temporary tables: that of a transaction under way, or a new one.
    const runner = this.dataSource.createQueryRunner();
    const { manager } = runner;
    try {
      const tables = tablesOf(this.dataSource, this.datasets);
      const stage = new Stage(manager, (await runner.connect()) as PoolClient, tables);
      await stage.create();
      const reader = new RecordReader(this.datasets, coverage, issues);
      const hasRecords = await stageRecords(records, reader, stage, issues, options.onProgress);
      // A partial file without records is most likely the wrong one; a whole dataset may be that of an empty organization.
      const isEmpty = coverage.isPartial && !hasRecords && !issues.hasAny && !coverage.hasSkippedRecords?.();
      if (isEmpty) throw importError('The file has no records.', 'a file with records');
      const { repeatedRows } = await stage.finish(organizationId, coverage);
      const filledTables = tables.filter(({ section }) => Number(reader.counts[section]) > 0);
      const { incompleteSections } = reader;
      const staged: StagedImport = {
        manager,
        organizationId,
        tables: filledTables,
        imported: reader.counts,
        coverage,
        issues,
        incompleteSections,
        stage,
        isDryRun: options.dryRun ?? false,
      };
      const written = await this.write(staged, options);
      if (!options.dryRun) await analyze(staged);
      return { ...written, repeatedRows };
    } finally {
      await runner.release();
    }
  }

  private async write(staged: StagedImport, options: ImportOptions): Promise<Completed> {
    const { manager, organizationId, tables, coverage, incompleteSections } = staged;
    const checks = new Checks(manager, organizationId, this.datasets, coverage);
    for (let attempt = 1; ; attempt++) {
      const issues = attempt === 1 ? staged.issues : new IssueCollector();
      await checks.checkAll(tables, incompleteSections, issues);
      issues.throwIfAny();
      // The checks may have skipped records.
      const imported = await staged.stage.count(tables, staged.imported, coverage);
      try {
        return await manager.transaction(async (transaction) => {
          const writer = new RecordWriter(transaction, { ...staged, imported }, this.datasets);
          // When others got as far as the reserved positions again and again, they have to wait.
          const written = await writer.write(attempt < MAX_ATTEMPTS);
          const result = { ...written, imported, ids: { ...this.noIds(), ...written.ids } };
          if (options.dryRun) throw new DryRunRollback(result);
          await options.onWritten?.();
          return result;
        });
      } catch (error) {
        if (error instanceof DryRunRollback) return error.written;
        // Others have changed what the checks saw. Repeated, the checks report what is invalid now.
        if (attempt === MAX_ATTEMPTS || !hasSqlState(error, CHANGED_SINCE_CHECKED)) throw error;
      }
    }
  }

  /** No ids of each section that reports them. */
  private noIds(): ImportResult['ids'] {
    const sections = this.datasets.names.filter((section) => this.datasets.of(section).reportsIds);
    return Object.fromEntries(sections.map((section) => [section, {}]));
  }
}

/**
 * Checks and stages all records. An error that ends the reading is collected with the others.
 * @returns whether there were any
 */
async function stageRecords(
  records: Records,
  reader: RecordReader,
  stage: Stage,
  issues: IssueCollector,
  onProgress: (records: number) => void = () => undefined,
): Promise<boolean> {
  let count = 0;
  try {
    for await (const raw of records) {
      const record = reader.check(raw);
      if (record) await stage.enqueue(record);
      if (++count % STAGE_BATCH_SIZE === 0) onProgress(count);
    }
    onProgress(count);
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    issues.add(...error.issues.map((issue) => ({ ...issue, order: issue.line ?? Infinity })));
  }
  return count > 0;
}

/** Lets running servers plan their statements anew for tables that have grown. The import has succeeded in any case. */
async function analyze({ manager, tables, imported }: StagedImport): Promise<void> {
  const count = Object.values(imported).reduce((sum, each) => sum + each, 0);
  if (count < STAGE_BATCH_SIZE) return;
  const names = [...tables.map(({ name }) => name), ...TRIGGER_MAINTAINED_TABLES];
  await manager.query(`analyze ${names.join(', ')}`).catch(() => undefined);
}
