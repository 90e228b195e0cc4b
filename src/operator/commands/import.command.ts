import { Command } from 'commander';
import { EntityManager } from 'typeorm';
import { CsvRecords } from '../../csv/csv-import';
import type { CsvService } from '../../csv/csv.service';
import type { Counts, Records } from '../../datasets/dataset';
import { datasetRecords } from '../../datasets/dataset-file';
import { Faults, ImportFault } from '../../datasets/faults';
import { textOf } from '../../datasets/file-text';
import { type ImportOptions as ImportOptionsOf, type ImportResult, ImportService } from '../../datasets/import.service';
import { visible } from '../../datasets/quoted';
import { PROGRAM } from '../../server/command-name';
import { command, GlobalOptions, organization, requireOrganization } from '../arguments';
import {
  csvFormOf,
  CsvOptions,
  encoding,
  fieldsText,
  withCsvImportOptions,
  withCsvOptions,
  wrapped,
} from '../csv.options';
import { chunksOf, sizeOf } from '../input';
import { withServices } from '../session';
import { Progress } from '../terminal/progress';
import { figure, table } from '../terminal/table';
import { answer, print } from '../terminal/terminal';

const formsText = (service: CsvService): string => `
A dataset in UTF-8, as export writes it:
  one JSON object   {"leads": [{"id": "7c9e…", "firstName": "Ada"}],
                    "industryEvents": [{"name": "Pump World"}]}
  NDJSON            {"section": "leads", "record": {"id": "7c9e…"}}
                    one record a line, of any size, in constant memory;
                    records come after those they refer to
Sections: ${wrapped(service.datasets.names, '  ')}.
All of it is imported, or nothing and all faults are named. Records are
matched by id, users by email, events by ref, so importing a file again changes
only what differs.

Or CSV, of any size, with column names in the first line:
  $ ${PROGRAM} import leads.csv \\
    --organization 1 --csv leads --map "Firm=company.name" --map "Notes="
A column named like a field is that field, ignoring case, blanks and
punctuation, and so are the usual names of other programs (Email Address, Title,
Account Name …); --map assigns others, --map "COLUMN=" skips one, and
--map "Phone#2=phone.office" means the second column of a name. Fields:
${fieldsText(service)}
An empty cell is null, or the default of a new record. A list is a; b or a JSON
array. A lead with a known id or ref (any text that identifies the lead in your
file) is updated in the file's columns; without either, each line is a new lead.`;

interface ImportOptions extends GlobalOptions, CsvOptions {
  organization: number;
  encoding?: string;
  dryRun?: boolean;
}

/** `import FILE` */
export function importCommand(program: Command, service: CsvService): void {
  const importing = command(program, 'import', {
    about: 'Read a dataset into an organization.',
    result:
      '{imported: {users, leads, …}, outcomes: {leads: {created, updated, unchanged}, …}, events: {REF: eventId}}, imported being counts of records; when refused {faults: [{line, column, path, value, wanted}], more}',
    example: 'import dataset.json --organization 1',
  })
    .argument('<FILE>', 'the dataset; - is standard input')
    .requiredOption('--organization <ID>', 'organization that receives the data', organization)
    .option('--dry-run', 'do all of it but store it')
    .option('--encoding <NAME>', 'of a file that is neither UTF-8 nor marked UTF-16, such as windows-1252', encoding);
  withCsvImportOptions(withCsvOptions(importing, service), service)
    .addHelpText('after', formsText(service))
    .action((file: string, _, self: Command) => importFile(service, file, self.optsWithGlobals()));
}

async function importFile(
  service: CsvService,
  file: string,
  { json, organization: id, dryRun, ...options }: ImportOptions,
): Promise<void> {
  const form = csvFormOf(service, options);
  const progress = new Progress(sizeOf(file));
  const chunks = chunksOf(file, progress.read);
  const faults = new Faults();
  let csv: CsvRecords | undefined;
  let first: string[] = [];
  const source = (manager: EntityManager): Source => {
    csv = form && new CsvRecords(service, { ...form, encoding: options.encoding }, id, manager, faults);
    const quotedFile = /^[\w./-]+$/.test(file) ? file : `"${file}"`;
    const command = `${PROGRAM} import ${quotedFile} --organization ${id} --csv leads`;
    const records =
      csv?.read(chunks) ?? datasetRecords(textOf(chunks, options.encoding), service.datasets, faults, command);
    return {
      records,
      options: { given: csv, faults, ...(dryRun && { dryRun: (records: string[]) => (first = records) }) },
    };
  };
  try {
    const result = await importInto(id, source, progress);
    await answerImported(json, dryRun ? shownDryRun(result, csv, first) : result, result, dryRun);
    if (dryRun && !json) await print(dryRunText(csv, first));
  } catch (error) {
    if (json && error instanceof ImportFault) await print(`${JSON.stringify(faultsOf(error))}\n`);
    throw error;
  }
}

/** What is imported, and how. */
interface Source {
  records: Records;
  options?: ImportOptionsOf;
}

/** Imports into an organization. */
export async function importInto(
  id: number,
  source: (manager: EntityManager) => Source,
  progress: Progress,
): Promise<ImportResult> {
  try {
    return await withServices(async (services, _, onWritten) => {
      await requireOrganization(services, id);
      const { records, options } = source(services.get(EntityManager));
      const all = { ...options, onProgress: progress.records, onWritten };
      return services.get(ImportService).importRecords(id, records, all);
    });
  } finally {
    progress.stop();
  }
}

const columnsOf = (csv: CsvRecords) =>
  csv.columns.map(({ head, field }) => ({ column: head, field: field?.name ?? null }));

const shownDryRun = (result: ImportResult, csv: CsvRecords | undefined, first: string[]) => ({
  ...result,
  dryRun: true,
  ...(csv && { columns: columnsOf(csv), first: first.map((record) => JSON.parse(record) as unknown) }),
});

function dryRunText(csv: CsvRecords | undefined, first: string[]): string {
  const columns = csv
    ? `${table(
        ['column', 'field'],
        columnsOf(csv).map(({ column, field }) => [visible(column), field ?? '(left out)']),
      )}\n${first.map((record) => `${visible(record)}\n`).join('')}`
    : '';
  return `${columns}This was a dry run: nothing is stored.\n`;
}

const faultsOf = ({ faults, more }: ImportFault) => ({
  faults: faults.map(({ line, column, path, value, wanted }) => ({ line, column, path, value: value ?? null, wanted })),
  more,
});

/** A second import would add records without an id again: that it succeeded is said also where the result cannot be. */
export function answerImported(
  json: boolean | undefined,
  shown: object,
  { imported, outcomes }: ImportResult,
  dryRun = false,
): Promise<void> {
  const text = outcomesText(imported, outcomes);
  return answer(json, shown, () => text, dryRun ? undefined : `stored: ${text}`);
}

/** `Imported 50 leads: 38 created, 10 updated, 2 unchanged; 1 event: …` */
function outcomesText(imported: Counts, outcomes: ImportResult['outcomes']): string {
  const parts = Object.entries(outcomes).map(([section, { created, updated, unchanged }]) => {
    const count = imported[section] ?? 0;
    const words = section.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    const name = count === 1 ? words.replace(/s$/, '') : words;
    const what = `${figure(created)} created, ${figure(updated)} updated, ${figure(unchanged)} unchanged`;
    return `${figure(count)} ${name}: ${what}`;
  });
  return `Imported ${parts.join('; ') || 'nothing'}.`;
}

/** How many records there are of each section, in one line. */
export function countsText(counts: Counts): string {
  const read = Object.entries(counts).filter(([, count]) => count > 0);
  return read.map(([section, count]) => `${figure(count)} ${section}`).join(', ') || 'nothing';
}
