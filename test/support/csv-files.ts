import { Readable } from 'node:stream';
import { Command } from 'commander';
import { DataSource } from 'typeorm';
import type { CsvPlan } from '../../src/exchange/csv/csv-plan';
import type { CsvFormat } from '../../src/exchange/csv/csv-options';
import { csvSource } from '../../src/exchange/csv/csv-read';
import { CsvService } from '../../src/exchange/csv/csv.service';
import type { LeftOut } from '../../src/exchange/datasets/import-plan';
import { ImportError } from '../../src/exchange/datasets/import-error';
import { type ImportResult, ImportService } from '../../src/exchange/datasets/import.service';
import { type CsvOptions, csvFormatOf, withCsvImportOptions, withCsvOptions } from '../../src/operator/csv.options';
import { adviceLines, readingNotes } from '../../src/operator/import-report';
import { DATASETS } from './contexts';
import type { InProcess } from './lanyard';

export const CSV = new CsvService(DATASETS);

/** How an import of a CSV file has ended. */
export interface CsvOutcome {
  /** Undefined if the file was rejected. */
  result?: ImportResult;
  /** The message of a rejection, as a person reads it. */
  message: string;
  leftOut: LeftOut[];
  /** What the result says of how the file was read. */
  notes?: string[];
}

/** The options of a command line, as the command reads them. */
function parseOptions(options: string[]): CsvOptions & { encoding?: string } {
  const command = new Command().option('--encoding <NAME>').exitOverride();
  return withCsvImportOptions(withCsvOptions(command, CSV)).parse(options, { from: 'user' }).opts();
}

/** Imports leads from the bytes of a file within this process, on the connections of a server, as the command does. */
export async function importCsvFile(
  { app }: InProcess,
  organizationId: number,
  bytes: Buffer,
  options: string[] = [],
): Promise<CsvOutcome> {
  const { encoding, ...csvOptions } = parseOptions(options);
  const format = csvFormatOf(CSV, { csv: 'leads', ...csvOptions }) as CsvFormat;
  const dataSource = app.get(DataSource);
  const leftOut: LeftOut[] = [];
  const source = csvSource(CSV, { ...format, encoding }, () => Readable.from([bytes]));
  try {
    const result = await new ImportService(dataSource, DATASETS).importRecords(organizationId, source, {
      receiveLeftOut: async (entries) => {
        leftOut.length = 0;
        for await (const each of entries) leftOut.push(each);
      },
    });
    return { result, message: '', leftOut, notes: readingNotes(result.plan as CsvPlan, result) };
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    return { message: [error.message, ...adviceLines(error, 'import')].join('\n'), leftOut };
  }
}

/** The options that a rejection tells to add. */
export function advisedOptions(message: string): string[] {
  const [, options = ''] = /^(?:Try|Correct the file, and try): import (.*)$/m.exec(message) ?? [];
  return [...options.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, quoted, plain = '']) =>
    quoted === undefined ? plain : (JSON.parse(`"${quoted}"`) as string),
  );
}
