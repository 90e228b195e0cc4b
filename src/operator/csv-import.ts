import { basename, extname } from 'node:path';
import type { CsvFormat } from '../csv/csv-format';
import type { CsvPlan } from '../csv/csv-plan';
import { csvSource } from '../csv/csv-read';
import type { CsvService } from '../csv/csv.service';
import type { ImportSource } from '../datasets/import-plan';
import type { ImportOptions, ImportResult } from '../datasets/import.service';
import { type LeftOut, LeftOutSummary } from '../datasets/left-out';
import {
  dryRunJson,
  dryRunText,
  leftOutJson,
  leftOutLines,
  leftOutText,
  notesJson,
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
  all?: boolean;
  errors?: string;
}

/** The import of one CSV file: what is read, what is left out, and what is reported. */
export class CsvImport {
  private leftOut: LeftOutSummary | undefined;
  private leftOutFile: LeftOutFile | undefined;

  constructor(
    private readonly service: CsvService,
    private readonly file: string,
    private readonly format: CsvFormat,
    private readonly options: CsvImportOptions,
  ) {}

  source(progress: Progress): ImportSource<CsvPlan> {
    const { encoding } = this.options;
    const suggestedSource = this.file === '-' ? undefined : basename(this.file, extname(this.file));
    return csvSource(this.service, { ...this.format, encoding, suggestedSource }, openTwice(this.file, progress.read));
  }

  get importOptions(): ImportOptions<CsvPlan> {
    const { dryRun, all: reportsAll } = this.options;
    return { dryRun, reportsAll, receiveLeftOut: (leftOut, plan) => this.listLeftOut(leftOut, plan) };
  }

  /** Counts and lists what was left out, before the import is committed. */
  private async listLeftOut(leftOut: AsyncIterable<LeftOut>, { ownColumnNames }: CsvPlan): Promise<void> {
    const { errors, dryRun } = this.options;
    this.removeLeftOut();
    const name = errors ?? (this.file === '-' ? 'import.errors.csv' : `${this.file}.errors.csv`);
    const file = dryRun ? undefined : new LeftOutFile(name, ownColumnNames, this.format.raw);
    this.leftOutFile = file;
    const summary = new LeftOutSummary();
    for await (const each of leftOut) {
      summary.add(each);
      file?.add(each);
    }
    file?.close();
    this.leftOut = summary;
  }

  /** Removes the list of an import that has failed. */
  removeLeftOut(): void {
    this.leftOutFile?.remove();
  }

  /** @throws RowsSkipped if rows were skipped, which is not a failure */
  async report(result: ImportResult<CsvPlan>): Promise<void> {
    const { leftOut, format } = this;
    const { plan } = result;
    const { json, dryRun = false } = this.options;
    const noRecords = { created: 0, updated: 0, unchanged: 0 };
    const outcomes = { [format.section]: noRecords, ...result.outcomes };
    const what = outcomesText(this.service.datasets, result.imported, outcomes);
    const outcome = `${dryRun ? 'Would import' : 'Imported'} ${what}.`;
    const text = outcome + (leftOut ? leftOutText(leftOut, this.leftOutFile?.path) : '');
    const notes = readingNotes(plan, result);
    const lines = [text, ...notes, ...(leftOut ? leftOutLines(leftOut, plan) : [])];
    const allJson = {
      ...resultJson({ ...result, outcomes }),
      ...(result.repeatedRows > 0 ? { repeatedRows: result.repeatedRows } : undefined),
      ...repeatedHoursJson(plan),
      ...notesJson(plan, result),
      ...(leftOut ? leftOutJson(leftOut, this.leftOutFile?.path) : undefined),
      ...(dryRun ? { dryRun, ...dryRunJson(plan, result) } : undefined),
    };
    await printResult(json, allJson, () => lines.join('\n'), dryRun ? undefined : `The import was stored. ${text}`);
    if (dryRun && !json) await print(dryRunText(plan, result));
    if (leftOut && leftOut.rows > 0) throw new RowsSkipped();
  }
}
