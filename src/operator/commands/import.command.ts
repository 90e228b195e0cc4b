import { Command } from 'commander';
import { EntityManager } from 'typeorm';
import { CsvRecords } from '../../csv/csv-records';
import type { CsvService } from '../../csv/csv.service';
import type { Counts, Datasets, Records } from '../../datasets/dataset';
import { datasetRecords } from '../../datasets/dataset-file';
import { decodeText } from '../../datasets/file-text';
import { ImportError, IssueCollector } from '../../datasets/import-error';
import {
  type ImportOptions as ImportServiceOptions,
  type ImportResult,
  ImportService,
} from '../../datasets/import.service';
import { escapeInvisible } from '../../datasets/quote';
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
import { readChunks, fileSize } from '../input';
import type { Session } from '../session';
import { Progress } from '../terminal/progress';
import { formatCount, formatNumber, formatTable } from '../terminal/table';
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

Or CSV of any size, with column names in the first line:
  $ ${COMMAND_NAME} import leads.csv \\
    --organization 1 --csv leads --map "Firm=company.name" --map "Notes="
A column fills the field of its name, ignoring case, blanks and punctuation.
Names that other programs use (Email Address, Title, Account Name …) are
recognized, too. --map assigns other columns, --map "COLUMN=" skips one, and
--map "Phone#2=phone.office" assigns the second of two columns of the same name.
Fields:
${fieldsText(service)}
An empty cell is null, or the default for a new record. A list is a; b or a JSON
array. A row whose id or ref is known (a ref is any text that identifies the
lead in your file) updates the lead in the columns of the file. Without id and
ref, each row becomes a new lead.`;

interface ImportOptions extends GlobalOptions, CsvOptions {
  organization?: number;
  encoding?: string;
  dryRun?: boolean;
}

/** The command `import FILE`. */
export function importCommand(program: Command, session: Session, service: CsvService): void {
  const importer = addCommand(program, 'import', {
    summary: 'Import a dataset or a CSV file into an organization.',
    jsonResult:
      '{imported: {users, leads, …}, outcomes: {leads: {created, updated, unchanged}, …}, events: {REF: eventId}}, ' +
      'where imported has the number of records per section; on errors {errors: [{line, column, path, value, expected}], more}',
    example: 'import dataset.json --organization 1',
  })
    .argument('<FILE>', 'file to import; - is standard input')
    .option(...organizationOption('organization that receives the data'))
    .option('--dry-run', 'check the file and report, but store nothing')
    .option(
      '--encoding <NAME>',
      'encoding of the file (default: UTF-8, or UTF-16 with a byte order mark)',
      parseEncoding,
    );
  withCsvImportOptions(withCsvOptions(importer, service), service)
    .addHelpText('after', helpText(service))
    .action((file: string, _, self: Command) => importFile(session, service, file, self.optsWithGlobals()));
}

async function importFile(
  session: Session,
  service: CsvService,
  file: string,
  { json, organization, dryRun, ...options }: ImportOptions,
): Promise<void> {
  const format = csvFormatOf(service, options);
  const progress = new Progress(fileSize(file));
  const chunks = readChunks(file, progress.read);
  const issues = new IssueCollector();
  let csv: CsvRecords | undefined;
  const source = (manager: EntityManager, id: number): ImportSource => {
    csv = format && new CsvRecords(service, { ...format, encoding: options.encoding }, id, manager, issues);
    const text = () => decodeText(chunks, options.encoding);
    const records = csv?.read(chunks) ?? datasetRecords(text(), service.datasets, issues, csvCommand(file, id));
    return { records, options: { coverage: csv, issues, dryRun } };
  };
  try {
    const result = await importInto(session, organization, source, progress);
    const dryRunDetails = dryRun ? { dryRun: true, ...dryRunJson(csv, result) } : {};
    await printImportResult(service.datasets, json, { ...resultJson(result), ...dryRunDetails }, result, dryRun);
    if (dryRun && !json) await print(dryRunText(csv, result));
  } catch (error) {
    if (json && error instanceof ImportError) await print(`${JSON.stringify(errorsJson(error))}\n`);
    throw error;
  }
}

/** The command that imports a file as CSV. */
function csvCommand(file: string, id: number): string {
  const quotedFile = /^[\w./-]+$/.test(file) ? file : `"${file}"`;
  return `${COMMAND_NAME} import ${quotedFile} --organization ${id} --csv leads`;
}

/** The records to import and the options to import them with. */
interface ImportSource {
  records: Records;
  options?: ImportServiceOptions;
}

/** Imports into an organization. Without an ID it is the only one. */
export async function importInto(
  session: Session,
  givenId: number | undefined,
  source: (manager: EntityManager, id: number) => ImportSource,
  progress: Progress,
): Promise<ImportResult> {
  try {
    return await session.withServices(async (services, _, onWritten) => {
      const { id } = await findOrganization(services, givenId);
      const { records, options } = source(services.get(EntityManager), id);
      const all = { ...options, onProgress: progress.records, onWritten };
      return services.get(ImportService).importRecords(id, records, all);
    });
  } finally {
    progress.stop();
  }
}

/** The public result: the ids of each section that reports them are a property with its name. */
const resultJson = ({ imported, outcomes, ids }: ImportResult) => ({ imported, outcomes, ...ids });

const describeColumns = (csv: CsvRecords) =>
  csv.columns.map(({ name, field }) => ({ column: name, field: field?.name ?? null }));

/** How a dry run has read a CSV file. */
function dryRunJson(csv: CsvRecords | undefined, { preview }: ImportResult): object {
  return csv ? { columns: describeColumns(csv), first: preview.map((record) => JSON.parse(record) as unknown) } : {};
}

function dryRunText(csv: CsvRecords | undefined, { preview }: ImportResult): string {
  const end = 'This was a dry run: nothing was stored.\n';
  if (!csv) return end;
  const columns = describeColumns(csv).map(({ column, field }) => [escapeInvisible(column), field ?? '(skipped)']);
  const records = preview.map((record) => `${escapeInvisible(record)}\n`);
  return `${formatTable(['column', 'field'], columns)}\n${records.join('')}${end}`;
}

const errorsJson = ({ issues, moreCount }: ImportError) => ({
  errors: issues.map(({ line, column, path, value = null, expected }) => ({ line, column, path, value, expected })),
  more: moreCount,
});

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

/** Describes the result, such as `50 leads: 38 created, 10 updated, 2 unchanged; 1 event: …`. */
function outcomesText(datasets: Datasets, imported: Counts, outcomes: ImportResult['outcomes']): string {
  const parts = Object.entries(outcomes).map(([section, { created, updated, unchanged }]) => {
    const count = imported[section] ?? 0;
    const what = `${formatNumber(created)} created, ${formatNumber(updated)} updated, ${formatNumber(unchanged)} unchanged`;
    return `${formatCount(count, datasets.of(section).noun)}: ${what}`;
  });
  return parts.join('; ') || 'nothing';
}

/** Lists the number of records of each section in one line. */
export function countsText(datasets: Datasets, counts: Counts): string {
  const read = Object.entries(counts).filter(([, count]) => count > 0);
  return read.map(([section, count]) => formatCount(count, datasets.of(section).noun)).join(', ') || 'nothing';
}
