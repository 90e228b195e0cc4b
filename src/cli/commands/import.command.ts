import { Command } from 'commander';
import { command, GlobalOptions, organization, requireOrganization } from '../arguments';
import { CsvRecords } from '../../datasets/csv.import';
import type { Counts, Records } from '../../datasets/dataset';
import { datasetRecords } from '../../datasets/dataset-file';
import { type ImportResult, ImportService } from '../../datasets/import.service';
import type { Given } from '../../datasets/moves';
import { PROGRAM } from '../../program';
import { DATASETS } from '../../sections';
import { CSV, csvFormOf, CsvOptions, fieldsText, withCsvOptions, wrapped } from '../csv.options';
import { chunksOf, sizeOf } from '../input';
import { withDatabase } from '../session';
import { Progress } from '../terminal/progress';
import { figure } from '../terminal/table';
import { answer } from '../terminal/terminal';

const FORMS = `
A dataset in UTF-8, as export writes it:
  one JSON object   {"leads": [{"id": "7c9e…", "firstName": "Ada"}],
                    "industryEvents": [{"name": "Pump World"}]}
  NDJSON            {"section": "leads", "record": {"id": "7c9e…"}}
                    one record a line, of any size, in constant memory;
                    records come after those they refer to
Sections: ${wrapped(DATASETS.names, '  ')}.
All of it is imported, or nothing and the first fault is named. Records are
matched by id, users by email, events by ref, so importing a file again changes
only what differs.

Or CSV, of any size, with column names in the first line:
  $ ${PROGRAM} import leads.csv \\
    --organization 1 --csv leads --map "Firm=company.name" --map "Notes="
A column named like a field is that field, ignoring case, blanks and
punctuation; --map assigns others, and --map "COLUMN=" skips one. Fields:
${fieldsText()}
An empty cell is null, or the default of a new record. A list is a; b or a JSON
array. A lead with a known id or ref (any text that identifies the lead in your
file) is updated in the file's columns; without either, each line is a new lead.`;

interface ImportOptions extends GlobalOptions, CsvOptions {
  organization: number;
}

/** `import FILE` */
export function importCommand(program: Command): void {
  const importing = command(program, 'import', {
    about: 'Read a dataset into an organization.',
    result: '{imported: {users, leads, …}, events: {REF: eventId}}, imported being counts of records',
    example: 'import dataset.json --organization 1',
  })
    .argument('<FILE>', 'the dataset; - is standard input')
    .requiredOption('--organization <ID>', 'organization that receives the data', organization);
  withCsvOptions(importing)
    .addHelpText('after', FORMS)
    .action((file: string, _, self: Command) => importFile(file, self.optsWithGlobals()));
}

async function importFile(file: string, { json, organization: id, ...options }: ImportOptions): Promise<void> {
  const form = csvFormOf(options);
  const csv = form && new CsvRecords(CSV, form, id);
  const progress = new Progress(sizeOf(file));
  const chunks = chunksOf(file, progress.read);
  const result = await importInto(id, csv ? csv.read(chunks) : datasetRecords(chunks, DATASETS), progress, csv);
  await answerImported(json, result, result.imported);
}

/** Imports into an organization. */
export async function importInto(
  id: number,
  records: Records,
  progress: Progress,
  given?: Given,
): Promise<ImportResult> {
  try {
    return await withDatabase(async ({ manager }, _, onWritten) => {
      await requireOrganization(manager, id);
      const options = { onProgress: progress.records, onWritten, given };
      return new ImportService(manager, DATASETS).importRecords(id, records, options);
    });
  } finally {
    progress.stop();
  }
}

/** A second import would add records without an id again: that it succeeded is said also where the result cannot be. */
export const answerImported = (json: boolean | undefined, result: object, counts: Counts) =>
  answer(json, result, () => `Imported: ${countsText(counts)}`, `stored: ${countsText(counts)}`);

/** How many records there are of each section, in one line. */
export function countsText(counts: Counts): string {
  const read = Object.entries(counts).filter(([, count]) => count > 0);
  return read.map(([section, count]) => `${figure(count)} ${section}`).join(', ') || 'nothing';
}
