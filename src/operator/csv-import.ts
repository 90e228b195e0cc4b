import { basename, extname } from 'node:path';
import type { EntityManager } from 'typeorm';
import type { CsvFormat } from '../csv/csv-format';
import { CsvRecords } from '../csv/csv-records';
import type { CsvService } from '../csv/csv.service';
import { LeftOutCounter } from '../csv/left-out';
import { IssueCollector } from '../datasets/import-error';
import type { Records } from '../datasets/dataset';
import type { ImportOptions, ImportResult } from '../datasets/import.service';
import {
  dryRunJson,
  dryRunText,
  leftOutJson,
  leftOutLines,
  leftOutText,
  outcomesText,
  readingNotes,
  repeatedHoursJson,
  resultJson,
} from './import-report';
import { openTwice } from './input';
import { LeftOutFile } from './left-out-file';
import type { Progress } from './terminal/progress';
import { print, printResult, RowsSkipped } from './terminal/terminal';

interface CsvImportOptions {
  json?: boolean;
  encoding?: string;
  dryRun?: boolean;
  errors?: string;
}

/** The records to import and the options to import them with. */
export interface ImportSource {
  records: Records;
  options?: ImportOptions;
}

/** The import of one CSV file: what is read, what is left out, and what is reported. */
export class CsvImport {
  private csv: CsvRecords | undefined;
  private readonly leftOut: LeftOutCounter | undefined;
  private readonly leftOutFile: LeftOutFile | undefined;

  constructor(
    private readonly service: CsvService,
    private readonly file: string,
    private readonly format: CsvFormat,
    private readonly options: CsvImportOptions,
  ) {
    if (!format.isLenient) return;
    const listName = options.errors ?? (file === '-' ? 'import.errors.csv' : `${file}.errors.csv`);
    const list = new LeftOutFile(listName, () => this.csv?.ownColumnNames ?? [], format.raw);
    if (!options.dryRun) this.leftOutFile = list;
    this.leftOut = new LeftOutCounter((leftOut) => this.leftOutFile?.add(leftOut));
  }

  source(manager: EntityManager, organizationId: number, progress: Progress): ImportSource {
    const { encoding, dryRun } = this.options;
    const issues = new IssueCollector();
    const suggestedSource = this.file === '-' ? undefined : basename(this.file, extname(this.file));
    const format = { ...this.format, encoding, suggestedSource };
    this.csv = new CsvRecords(this.service, format, { organizationId, manager, issues, leftOut: this.leftOut });
    const records = this.csv.read(openTwice(this.file, progress.read));
    return { records, options: { coverage: this.csv, issues, dryRun } };
  }

  /** Completes the list of what was left out, before the import is committed. */
  finishLeftOut(): void {
    this.leftOutFile?.close();
  }

  /** Removes the list of an import that has failed. */
  removeLeftOut(): void {
    this.leftOutFile?.remove();
  }

  /** @throws RowsSkipped if rows were skipped, which is not a failure */
  async report(result: ImportResult): Promise<void> {
    const { csv, leftOut, format } = this;
    const { json, dryRun = false } = this.options;
    const noRecords = { created: 0, updated: 0, unchanged: 0 };
    const outcomes = { [format.section]: noRecords, ...result.outcomes };
    const what = outcomesText(this.service.datasets, result.imported, outcomes);
    const outcome = `${dryRun ? 'Would import' : 'Imported'} ${what}.`;
    const text = outcome + (leftOut ? leftOutText(leftOut, this.leftOutFile?.path) : '');
    const notes = csv ? readingNotes(csv, result, format.isLenient) : [];
    const lines = [text, ...notes, ...(leftOut ? leftOutLines(leftOut) : [])];
    const allJson = {
      ...resultJson({ ...result, outcomes }),
      ...(result.repeatedRows > 0 ? { repeatedRows: result.repeatedRows } : undefined),
      ...(csv ? repeatedHoursJson(csv) : undefined),
      ...(leftOut ? leftOutJson(leftOut, this.leftOutFile?.path) : undefined),
      ...(dryRun ? { dryRun, ...dryRunJson(csv, result) } : undefined),
    };
    await printResult(json, allJson, () => lines.join('\n'), dryRun ? undefined : `The import was stored. ${text}`);
    if (dryRun && !json) await print(dryRunText(csv, result));
    if (leftOut && leftOut.rows > 0) throw new RowsSkipped();
  }
}
