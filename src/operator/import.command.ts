import { Command } from 'commander';
import { command, GlobalOptions, organization, requireOrganization } from './arguments';
import { SECTIONS } from './dataset';
import { openDataset, sizeOf } from './dataset-source';
import { ImportResult, ImportService } from './import.service';
import { Progress } from './progress';
import { withDatabase } from './session';
import { answer } from './terminal';

const FORMS = `
The dataset, in one of two forms, in UTF-8:
  one JSON object   {"leads": [{"id": "7c9e…", "firstName": "Ada"}], "industryEvents": [{"name": "Pump World"}]}
  NDJSON            {"section": "leads", "record": {"id": "7c9e…", "firstName": "Ada"}}
                    a record a line, of any size, in constant memory; what is referred to stands before
Sections: ${SECTIONS.join(', ')}.

It is all of it or nothing: a fault is named with its place, and then nothing was changed. Records are matched by id,
users by email, events by ref, so importing a file again changes only what differs. export writes this form, and so
shows every field.`;

/** `import FILE` */
export function importCommand(program: Command): void {
  command(program, 'import', {
    about: 'Read a dataset into an organization.',
    result: '{imported: {users, leads, …}, events: {REF: eventId}}, imported being counts of records',
    examples: [
      'import dataset.json --organization 1',
      'gunzip < leads.ndjson.gz | npm run --silent operator -- import - --organization 1 --json',
    ],
  })
    .argument('<FILE>', 'the dataset; - is standard input')
    .requiredOption('--organization <ID>', 'whose data it becomes', organization)
    .addHelpText('after', FORMS)
    .action(async (file: string, _, self: Command) => {
      const { json, organization: id } = self.optsWithGlobals<GlobalOptions & { organization: number }>();
      const progress = new Progress(sizeOf(file));
      const result = await importInto(id, file, progress);
      await answer(json, result, () => summary(result));
    });
}

async function importInto(id: number, file: string, progress: Progress): Promise<ImportResult> {
  try {
    return await withDatabase(async (dataSource) => {
      await requireOrganization(dataSource, id);
      const imports = new ImportService(dataSource);
      const source = await openDataset(file, progress.read);
      return 'lines' in source
        ? imports.importLines(id, source.lines, progress.records)
        : imports.import(id, source.dataset);
    });
  } finally {
    progress.stop();
  }
}

/** Ids that a person may want to see; a program asks for all of them with --json. */
const SHOWN = 10;

function summary({ imported, events }: ImportResult): string {
  const read = Object.entries(imported).filter(([, count]) => count > 0);
  const all = Object.entries(events);
  return [
    `Imported: ${read.map(([section, count]) => `${count} ${section}`).join(', ') || 'nothing'}`,
    ...all.slice(0, SHOWN).map(([ref, id]) => `Event ${id}: ${ref}`),
    ...(all.length > SHOWN ? [`and ${all.length - SHOWN} more events (--json shows them all)`] : []),
  ].join('\n');
}
