import { basename, extname } from 'node:path';
import { Command } from 'commander';
import type { EntityManager } from 'typeorm';
import type { CsvFormat } from '../../csv/csv-options';
import type { CsvService } from '../../csv/csv.service';
import { csvSource } from '../../csv/csv-read';
import { FormerRecords } from '../../datasets/former-records';
import type { ImportPlan, ImportSource, LeftOut } from '../../datasets/import-plan';
import { datasetRecords, wholeRecords } from '../../datasets/read-json';
import { decodeText } from '../../datasets/open';
import { ImportError } from '../../datasets/import-error';
import { type ImportOptions, type ImportResult, ImportService } from '../../datasets/import.service';
import { COMMAND_NAME } from '../command-name';
import { addCommand, GlobalOptions, organizationOption, findOrganization } from '../arguments';
import { BeforeFile } from '../before-file';
import {
  csvFormatOf,
  CsvOptions,
  parseEncoding,
  fieldsText,
  withCsvImportOptions,
  withCsvOptions,
  wrapNames,
} from '../csv.options';
import { adviceLines, errorsJson, ImportReport, ownColumnNames } from '../import-report';
import { fileSize, openTwice, readChunks } from '../input';
import { LeftOutList } from '../left-out-list';
import type { Session } from '../session';
import { Progress } from '../terminal/progress';
import { print, printResult, RowsSkipped, UsageError } from '../terminal/terminal';

const helpText = (service: CsvService): string => `
A dataset, as export writes it:
  one JSON object   {"leads": [{"id": "7c9e…", "firstName": "Ada"}],
                    "industryEvents": [{"name": "Pump World"}]}
  NDJSON            {"section": "leads", "record": {"id": "7c9e…"}}
                    one record per line, in any number; each record comes after
                    those that it refers to
Sections: ${wrapNames(service.datasets.names, '  ')}.
The import stores everything or nothing, and reports every error it finds.
Records are matched by id, users by email, events by ref, so importing a file
again changes only what differs.

Or CSV of any size, with column names in one of the first 20 lines:
  $ ${COMMAND_NAME} import leads.csv \\
    --organization 1 --csv leads --map "Firm=company.name" --map "Notes="
A column fills the field of its name, ignoring case, blanks and punctuation.
Names that other programs use (Email Address, Title, Account Name …) are
recognized in six languages. --map assigns other columns, --map "COLUMN=" skips
one, and --map "Phone#2=phone.office" assigns the second of two columns of the
same name. A rejection ends with the command to try next. --lenient imports what
can be read, and lists the rest.
Fields:
${fieldsText(service)}
An empty cell is null, or the default for a new record. A list is a; b. A row
whose id or ref is known (a ref is any text that identifies the lead in your
file) updates the lead in the columns of the file. Without id and ref, each row
becomes a new lead.`;

interface ImportCommandOptions extends GlobalOptions, CsvOptions {
  organization?: number;
  encoding?: string;
  dryRun?: boolean;
  errors?: string;
  before?: string;
  all?: boolean;
}

/** The command `import FILE`. */
export function importCommand(program: Command, session: Session, service: CsvService): void {
  const importer = addCommand(program, 'import', {
    summary: 'Import a dataset or a CSV file into an organization.',
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
  withCsvImportOptions(withCsvOptions(importer, service), service)
    .addHelpText('after', helpText(service))
    .action((file: string, _, self: Command) =>
      importFile(session, service, file, self.optsWithGlobals<ImportCommandOptions>(), self),
    );
}

async function importFile(
  session: Session,
  service: CsvService,
  file: string,
  options: ImportCommandOptions,
  self: Command,
): Promise<void> {
  const { json, organization, dryRun = false } = options;
  const format = csvFormatOf(service, options);
  const before = beforeFileOf(options);
  const progress = new Progress(fileSize(file));
  const leftOut: { list?: LeftOutList } = {};
  const receiveLeftOut = async (all: AsyncIterable<LeftOut>, plan: ImportPlan): Promise<void> => {
    // A repeated import has a list of its own.
    leftOut.list?.remove();
    const errorsFile = options.errors ?? (file === '-' ? 'import.errors.csv' : `${file}.errors.csv`);
    leftOut.list = new LeftOutList(dryRun ? undefined : errorsFile, ownColumnNames(plan), format?.raw ?? false);
    await leftOut.list.addAll(all);
  };
  const source = (id: number): ImportSource => sourceOf(service, file, format, options.encoding, progress, id);
  let result: ImportResult;
  try {
    result = await importInto(session, organization, source, progress, {
      dryRun,
      reportsAll: options.all,
      receiveLeftOut,
      file,
      before,
    });
  } catch (error) {
    leftOut.list?.remove();
    before?.removeAfter(error);
    const errors = json && errorsJson(error);
    if (errors) await print(`${JSON.stringify(errors)}\n`);
    if (error instanceof ImportError && format && !format.isLenient)
      error.message += `\n${adviceLines(error, calledCommand(self)).join('\n')}`;
    throw error;
  }
  const report = new ImportReport(service.datasets, result, format?.section, dryRun, leftOut.list, before);
  await printResult(json, report.json, () => report.lines.join('\n'));
  if (dryRun && !json) await print(report.dryRunText(options.before !== undefined));
  // It is not a failure, but an exit status of its own.
  if (leftOut.list && leftOut.list.rows > 0) throw new RowsSkipped();
}

/** A dry run changes nothing, so it writes no such file. */
function beforeFileOf({ before, dryRun }: ImportCommandOptions): BeforeFile | undefined {
  if (before === '' || before === '-') throw new UsageError('--before must be a file name');
  return before === undefined || dryRun ? undefined : new BeforeFile(before);
}

/** @param id of the organization */
function sourceOf(
  service: CsvService,
  file: string,
  format: CsvFormat | undefined,
  encoding: string | undefined,
  { read }: Progress,
  id: number,
): ImportSource {
  if (format) {
    const suggestedSource = file === '-' ? undefined : basename(file, extname(file));
    return csvSource(service, { ...format, encoding, suggestedSource }, openTwice(file, read)) as ImportSource;
  }
  const { datasets } = service;
  const text = decodeText(readChunks(file, read), encoding);
  return wholeRecords(datasets, (issues) => datasetRecords(text, datasets, issues, csvCommand(file, id)));
}

/** The command line as it was called. */
function calledCommand(self: Command): string {
  let program = self;
  while (program.parent) program = program.parent;
  const { rawArgs } = program as Command & { rawArgs: string[] };
  const isOfNode = rawArgs[0] === process.argv[0] && rawArgs[1] === process.argv[1];
  return [COMMAND_NAME, ...(isOfNode ? rawArgs.slice(2) : rawArgs).map(quoteArgument)].join(' ');
}

/** An argument as a shell reads it. */
const quoteArgument = (argument: string): string =>
  /^[\w./:@%+=,-]+$/.test(argument) ? argument : `"${argument.replace(/[\\"$`]/g, '\\$&')}"`;

/** The command that imports a file as CSV. */
const csvCommand = (file: string, id: number): string =>
  `${COMMAND_NAME} import ${quoteArgument(file)} --organization ${id} --csv leads`;

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
