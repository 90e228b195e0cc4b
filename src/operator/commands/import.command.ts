import { Command, Help } from 'commander';
import type { EntityManager } from 'typeorm';
import type { CsvService } from '../../exchange/csv/csv.service';
import { csvSource } from '../../exchange/csv/csv-read';
import { FormerRecords } from '../../exchange/datasets/former-records';
import type { ImportSource } from '../../exchange/datasets/import-plan';
import { datasetRecords, wholeRecords } from '../../exchange/datasets/read-json';
import { decodeText } from '../../exchange/datasets/open';
import { ImportError } from '../../exchange/datasets/import-error';
import { type ImportOptions, type ImportResult, ImportService } from '../../exchange/datasets/import.service';
import { COMMAND_NAME } from '../command-name';
import { addCommand, organizationOption, findOrganization } from '../arguments';
import { BeforeFile } from '../before-file';
import {
  csvFormatOf,
  CsvOptions,
  parseEncoding,
  fieldsText,
  withCsvImportOptions,
  withCsvOptions,
} from '../csv.options';
import { adviceLines, columnNames, errorsJson, reportJson, reportText } from '../import-report';
import { fileSize, openTwice, readChunks } from '../input';
import { LeftOutList } from '../left-out-list';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';
import { Progress } from '../terminal/progress';
import { print, RowsSkipped, UsageError } from '../terminal/terminal';

const helpText = (service: CsvService): string => `
A dataset, as export writes it:
  one JSON object   {"leads": [{"id": "7c9e…", "firstName": "Ada"}],
                    "industryEvents": [{"name": "Pump World"}]}
  NDJSON            {"section": "leads", "record": {"id": "7c9e…"}}
                    one record per line, in any number; each record comes after
                    those that it refers to
Sections: ${new Help().boxWrap(service.datasets.names.join(', '), 68)}.
The import stores everything or nothing, and reports every error it finds.
Records are matched by id, users by email, events by ref, so importing a file
again changes only what differs.

Or CSV of any size:
  $ ${COMMAND_NAME} import leads.csv \\
    --organization 1 --csv leads --map "Firm=company.name" --map "Notes="
A column fills the field of its name, or of a name that other programs use.
--map assigns other columns or skips one; "Phone#2=phone.office" assigns the
second of two columns of the same name. A rejection ends with the command to try
next.
Fields:
${fieldsText(service)}
A list is a; b. A row whose id or ref is known (a ref is any text that
identifies the lead in your file) updates the lead; any other row is a new one.`;

interface ImportCommandOptions extends CsvOptions {
  organization?: number;
  dryRun?: boolean;
  before?: string;
  all?: boolean;
}

/** The command `import FILE`. */
export function importCommand(program: Command, session: Session, service: CsvService): void {
  const importer = addCommand(program, 'import', {
    summary: SUMMARIES.import,
    example: 'import dataset.json --organization 1',
  })
    .argument('<FILE>', 'file to import; - is standard input')
    .option(...organizationOption('organization that receives the data'))
    .option('--dry-run', 'check the file and report, but store nothing')
    .option('--before <FILE>', 'new file for the records that the import changes, as they were, to be imported again')
    .option('--all', 'report every error with its own line, not only the first 20')
    .option(
      '--encoding <NAME>',
      'encoding of the file (default: UTF-8, or UTF-16 with a byte order mark)',
      parseEncoding,
    );
  withCsvImportOptions(withCsvOptions(importer, service))
    .addHelpText('after', helpText(service))
    .action((file: string, options: ImportCommandOptions) => {
      const { rawArgs } = program as Command & { rawArgs: string[] };
      const command = [COMMAND_NAME, ...rawArgs.map(quoteArgument)].join(' ');
      return importFile(session, service, file, options, command);
    });
}

/** @param command as it was called */
async function importFile(
  session: Session,
  service: CsvService,
  file: string,
  options: ImportCommandOptions,
  command: string,
): Promise<void> {
  const { organization, dryRun } = options;
  const format = csvFormatOf(service, options);
  const before = beforeFileOf(options);
  const progress = new Progress(fileSize(file));
  const { errors: errorsFile = `${file === '-' ? 'import' : file}.errors.csv` } = options;
  const leftOut = format?.lenient ? new LeftOutList(dryRun ? undefined : errorsFile, format.raw) : undefined;
  const { datasets } = service;
  const source = format
    ? (csvSource(service, format, openTwice(file, progress.read)) as ImportSource)
    : wholeRecords(datasets, (issues) => {
        const text = decodeText(readChunks(file, progress.read), options.encoding);
        return datasetRecords(text, datasets, issues, `${command} --csv leads`);
      });
  let result: ImportResult;
  try {
    result = await importInto(session, organization, () => source, progress, {
      dryRun,
      reportsAll: options.all,
      receiveLeftOut: async (all, plan) => leftOut?.addAll(all, columnNames(plan)),
      file,
      before,
    });
  } catch (error) {
    await leftOut?.remove();
    await before?.removeAfter(error);
    const errors = session.json && errorsJson(error);
    if (errors) await print(`${JSON.stringify(errors)}\n`);
    if (error instanceof ImportError && format && !format.lenient)
      error.message += `\n${adviceLines(error, command).join('\n')}`;
    throw error;
  }
  const finished = { datasets, result, leftOut, before, keepsBefore: options.before !== undefined };
  await session.print(reportJson(finished), { shown: reportText(finished) });
  // It is not a failure, but an exit status of its own.
  if (leftOut && leftOut.rows > 0) throw new RowsSkipped();
}

/** A dry run changes nothing, so it writes no such file. */
function beforeFileOf({ before, dryRun }: ImportCommandOptions): BeforeFile | undefined {
  if (before === '' || before === '-') throw new UsageError('--before must be a file name');
  return before === undefined || dryRun ? undefined : new BeforeFile(before);
}

/** An argument as a shell reads it. */
const quoteArgument = (argument: string): string =>
  /^[\w./:@%+=,-]+$/.test(argument) ? argument : `"${argument.replace(/[\\"$`]/g, '\\$&')}"`;

/** Imports into an organization. Without an ID it is the only one. */
export async function importInto(
  session: Session,
  givenId: number | undefined,
  source: (id: number) => ImportSource,
  progress: Progress,
  { before, ...options }: Omit<ImportOptions, 'before'> & { before?: BeforeFile } = {},
): Promise<ImportResult> {
  try {
    return await session.withServices(async (services, _, finish) => {
      const { id } = await findOrganization(services, givenId);
      const onWritten = async (transaction: EntityManager): Promise<void> => {
        await before?.write(services.get(FormerRecords).read(transaction, id));
        finish();
      };
      const all = { ...options, before: before?.path, onProgress: progress.records, onWritten };
      return services.get(ImportService).importRecords(id, source(id), all);
    });
  } finally {
    progress.stop();
  }
}
