import { Command } from 'commander';
import type { CsvFormat } from '../../csv/csv-format';
import type { CsvService } from '../../csv/csv.service';
import type { Datasets } from '../../datasets/dataset';
import type { CsvPlan } from '../../csv/csv-plan';
import type { ImportPlan, ImportSource } from '../../datasets/import-plan';
import { datasetRecords, wholeRecords } from '../../datasets/read-json';
import { decodeText } from '../../datasets/open';
import { ImportError } from '../../datasets/import-error';
import { type ImportOptions, type ImportResult, ImportService } from '../../datasets/import.service';
import { COMMAND_NAME } from '../../server/command-name';
import { addCommand, GlobalOptions, organizationOption, findOrganization } from '../arguments';
import {
  csvFormatOf,
  CsvOptions,
  parseEncoding,
  fieldsText,
  withCsvImportOptions,
  withCsvOptions,
  wrapNames,
} from '../csv.options';
import { CsvImport } from '../csv-import';
import { adviceLines, dryRunText, errorsJson, outcomesText, resultJson } from '../import-report';
import { readChunks, fileSize } from '../input';
import type { Session } from '../session';
import { Progress } from '../terminal/progress';
import { printResult, print } from '../terminal/terminal';

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
  all?: boolean;
}

/** The command `import FILE`. */
export function importCommand(program: Command, session: Session, service: CsvService): void {
  const importer = addCommand(program, 'import', {
    summary: 'Import a dataset or a CSV file into an organization.',
    jsonResult:
      '{imported: {users, leads, …}, outcomes: {leads: {created, updated, unchanged}, …}, events: {REF: eventId}}, ' +
      'where imported has the number of records per section; with --lenient also {skipped: {rows, values, columns}, errorsFile}; ' +
      'on errors {errors: [{line, column, path, value, expected}], more}',
    example: 'import dataset.json --organization 1',
  })
    .argument('<FILE>', 'file to import; - is standard input')
    .option(...organizationOption('organization that receives the data'))
    .option('--dry-run', 'check the file and report, but store nothing')
    .option('--all', 'report every error with its own line, not only the first 20')
    .option(
      '--encoding <NAME>',
      'encoding of the file (default: UTF-8, or UTF-16 with a byte order mark)',
      parseEncoding,
    );
  withCsvImportOptions(withCsvOptions(importer, service), service)
    .addHelpText('after', helpText(service))
    .action((file: string, _, self: Command) => {
      const options = self.optsWithGlobals<ImportCommandOptions>();
      const format = csvFormatOf(service, options);
      return format
        ? importCsv(session, service, file, format, options, self)
        : importDataset(session, service, file, options);
    });
}

/** Imports a dataset in JSON or NDJSON. */
async function importDataset(
  session: Session,
  service: CsvService,
  file: string,
  options: ImportCommandOptions,
): Promise<void> {
  const { json, organization, dryRun = false, all: reportsAll, encoding } = options;
  const progress = new Progress(fileSize(file));
  const source = (id: number): ImportSource => {
    const text = decodeText(readChunks(file, progress.read), encoding);
    return wholeRecords(service.datasets, (issues) =>
      datasetRecords(text, service.datasets, issues, csvCommand(file, id)),
    );
  };
  try {
    const result = await importInto(session, organization, source, progress, { dryRun, reportsAll });
    const details = dryRun ? { dryRun } : {};
    await printImportResult(service.datasets, json, { ...resultJson(result), ...details }, result, dryRun);
    if (dryRun && !json) await print(dryRunText(undefined, result));
  } catch (error) {
    if (json) await printErrorsJson(error);
    throw error;
  }
}

/** Imports a CSV file. */
async function importCsv(
  session: Session,
  service: CsvService,
  file: string,
  format: CsvFormat,
  options: ImportCommandOptions,
  self: Command,
): Promise<void> {
  const progress = new Progress(fileSize(file));
  const csvImport = new CsvImport(service, file, format, options);
  let result: ImportResult<CsvPlan>;
  try {
    const source = (): ImportSource<CsvPlan> => csvImport.source(progress);
    result = await importInto(session, options.organization, source, progress, csvImport.importOptions);
  } catch (error) {
    csvImport.removeLeftOut();
    if (options.json) await printErrorsJson(error);
    if (error instanceof ImportError && !format.isLenient)
      error.message += `\n${adviceLines(error, calledCommand(self)).join('\n')}`;
    throw error;
  }
  await csvImport.report(result);
}

async function printErrorsJson(error: unknown): Promise<void> {
  const json = errorsJson(error);
  if (json) await print(`${JSON.stringify(json)}\n`);
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
export async function importInto<Plan extends ImportPlan>(
  session: Session,
  givenId: number | undefined,
  source: (id: number) => ImportSource<Plan>,
  progress: Progress,
  options: ImportOptions<Plan> = {},
): Promise<ImportResult<Plan>> {
  try {
    return await session.withServices(async (services, _, finish) => {
      const { id } = await findOrganization(services, givenId);
      const all = { ...options, onProgress: progress.records, onWritten: finish };
      return services.get(ImportService).importRecords(id, source(id), all);
    });
  } finally {
    progress.stop();
  }
}

/**
 * Prints the result of an import. Repeating an import would add records without an ID again, so its success is reported
 * even if the result cannot be printed.
 */
export function printImportResult(
  datasets: Datasets,
  json: boolean | undefined,
  jsonResult: object,
  { imported, outcomes }: ImportResult,
  dryRun = false,
): Promise<void> {
  const text = `${dryRun ? 'Would import' : 'Imported'} ${outcomesText(datasets, imported, outcomes)}.`;
  return printResult(json, jsonResult, () => text, dryRun ? undefined : `The import was stored. ${text}`);
}
