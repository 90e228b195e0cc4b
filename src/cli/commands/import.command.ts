import { Command } from 'commander';
import { command, GlobalOptions, organization, PROGRAM, requireOrganization } from '../arguments';
import { CsvRecords } from '../csv/csv.import';
import { type CsvForm, csvFormOf, CsvOptions, fieldsText, withCsvOptions } from '../csv/csv.options';
import { SECTIONS } from '../import/dataset';
import { chunksOf, openDataset, sizeOf } from '../import/dataset-source';
import { ImportFault } from '../import/import-fault';
import type { ImportResult } from '../import/import.run';
import { type Asking, ImportService } from '../import/import.service';
import { Progress } from '../terminal/progress';
import { visible } from '../terminal/quoted';
import { withDatabase } from '../session';
import { figure } from '../terminal/table';
import { answer } from '../terminal/terminal';

const FORMS = `
The dataset, in one of two forms, in UTF-8:
  one JSON object   {"leads": [{"id": "7c9e…", "firstName": "Ada"}], "industryEvents": [{"name": "Pump World"}]}
  NDJSON            {"section": "leads", "record": {"id": "7c9e…", "firstName": "Ada"}}
                    a record a line, of any size, in constant memory; what is referred to stands before
Sections: ${SECTIONS.join(', ')}.

It is all of it or nothing: a fault is named with its place, and then nothing was changed. Records are matched by id,
users by email, events by ref, so importing a file again changes only what differs. export writes this form, and so
shows every field.`;

const AS_CSV = `
Or CSV, of any size, with the names of its columns in the first line:
  $ ${PROGRAM} import leads.csv --organization 1 --csv leads --map "Firm=company.name" --map "Notes="
A column whose name is that of a field is that field, case, blanks and signs aside; --map says it of others, and
--map "COLUMN=" leaves one out. Fields:
${fieldsText()}
An empty cell is null, or what a new record has in its place. A list is written a; b or as a JSON array. A lead with an
id, or with a ref (any text by which your file names it, the same in each import), is changed in the file's columns
where it is there already, and added where not; without either, each line is a new lead.`;

/** `import FILE` */
export function importCommand(program: Command): void {
  const importing = command(program, 'import', {
    about: 'Read a dataset into an organization.',
    result: '{imported: {users, leads, …}, events: {REF: eventId}}, imported being counts of records',
    examples: [
      'import dataset.json --organization 1',
      `gunzip < leads.ndjson.gz | ${PROGRAM} import - --organization 1 --json`,
      'import leads.csv --organization 1 --csv leads --delimiter ";" --map "Contact ID=ref"',
    ],
  });
  withCsvOptions(
    importing
      .argument('<FILE>', 'the dataset; - is standard input')
      .requiredOption('--organization <ID>', 'whose data it becomes', organization),
  )
    .addHelpText('after', FORMS)
    .addHelpText('after', AS_CSV)
    .action(async (file: string, _, self: Command) => {
      const { json, organization: id, ...options } = self.optsWithGlobals<ImportOptions>();
      const result = await importFile(id, file, csvFormOf(options));
      await answer(json, result, () => summary(result), storedText(result.imported));
    });
}

interface ImportOptions extends GlobalOptions, CsvOptions {
  organization: number;
}

async function importFile(id: number, file: string, csv: CsvForm | undefined): Promise<ImportResult> {
  const progress = new Progress({ bytes: sizeOf(file) });
  return importInto(id, progress, async (imports) => {
    if (csv) return importCsv(imports, id, file, csv, progress);
    const source = await openDataset(file, progress.read);
    return 'lines' in source
      ? imports.importLines(id, source.lines, progress.records)
      : imports.import(id, source.dataset, progress.records);
  });
}

/** Imports into an organization; what PostgreSQL stored for good has succeeded, whatever happens after. */
export async function importInto(
  id: number,
  progress: Progress,
  work: (imports: ImportService) => Promise<ImportResult>,
): Promise<ImportResult> {
  let imported: ImportResult | undefined;
  try {
    return await withDatabase(async (dataSource, _, signals) => {
      await requireOrganization(dataSource, id);
      const imports = new ImportService(dataSource.manager);
      imports.onWritten = () => signals.hold(true);
      imports.onCommit = (result) => {
        imported = result;
        signals.hold(false);
      };
      return await work(imports);
    });
  } catch (error) {
    // What comes after is for speed alone, and who is told of a failure would import everything once more.
    if (imported === undefined) throw error;
    return imported;
  } finally {
    progress.stop();
  }
}

async function importCsv(
  imports: ImportService,
  id: number,
  file: string,
  form: CsvForm,
  progress: Progress,
): Promise<ImportResult> {
  const csv = new CsvRecords(form, id);
  try {
    const records: Asking = (transaction) => csv.read(chunksOf(file, progress.read), transaction);
    return await imports.importRecords(id, records, progress.records);
  } catch (error) {
    throw error instanceof ImportFault ? csv.explain(error) : error;
  }
}

/** Ids that a person may want to see; a program asks for all of them with --json. */
const SHOWN = 10;

function summary({ imported, events }: ImportResult): string {
  const all = Object.entries(events);
  return [
    importedText(imported),
    ...all.slice(0, SHOWN).map(([ref, id]) => `Event ${id}: ${visible(ref)}`),
    ...(all.length > SHOWN ? [`and ${figure(all.length - SHOWN)} more events (--json shows them all)`] : []),
  ].join('\n');
}

/** What was imported, in one line. */
export const importedText = (imported: ImportResult['imported']): string => `Imported: ${countsText(imported)}`;

/** The same for who cannot be shown it: importing once more would add what has no id of its own again. */
export const storedText = (imported: ImportResult['imported']): string =>
  `stored all the same: ${countsText(imported)}`;

function countsText(imported: ImportResult['imported']): string {
  const read = Object.entries(imported).filter(([, count]) => count > 0);
  return read.map(([section, count]) => `${figure(count)} ${section}`).join(', ') || 'nothing';
}
