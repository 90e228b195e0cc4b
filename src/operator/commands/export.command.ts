import { Command, Option } from 'commander';
import { EntityManager } from 'typeorm';
import type { CsvService } from '../../exchange/csv/csv.service';
import { addCommand, organizationOption, findOrganization } from '../arguments';
import type { Counts } from '../../exchange/datasets/dataset';
import { csvExportFormat, exportedColumns } from '../../exchange/csv/csv-export';
import { type ExportFormat, NDJSON_FORMAT, OBJECT_FORMAT } from '../../exchange/datasets/export-format';
import { ExportService } from '../../exchange/datasets/export.service';
import { MAX_OBJECT_MIB } from '../../exchange/datasets/read-json';
import { COMMAND_NAME } from '../command-name';
import { addCsvExportOptions, type CsvExportOptions, csvExportOf } from '../csv.options';
import { writeFile } from '../output-file';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';
import { Progress } from '../terminal/progress';
import { OutputClosed, print, printStatus, UsageError } from '../terminal/terminal';

interface ExportOptions extends CsvExportOptions {
  organization?: number;
  ndjson?: boolean;
  bom?: boolean;
  output?: string;
}

const CSV_NOTES = `
CSV contains one section, with field names in the first line, and can be
imported again without loss. --map chooses the columns and their order:
  $ ${COMMAND_NAME} export --organization 1 \\
    --csv leads --map "E-mail=email" --map "Firm=company.name"
A cell that a spreadsheet would run as a formula (=, +, -, @ …) gets a leading
apostrophe, which import removes. Use --raw for other programs.`;

/** The command `export`. */
export function exportCommand(program: Command, session: Session, service: CsvService): void {
  const exporter = addCommand(program, 'export', {
    summary: SUMMARIES.export,
    example: 'export --organization 1 > backup.json',
  })
    .option(...organizationOption('organization whose data to export'))
    .addOption(new Option('--ndjson', 'write one record per line instead of one JSON object').conflicts('csv'))
    .option('--output <FILE>', 'file to write, completely or not at all; - is standard output')
    .addHelpText('after', CSV_NOTES)
    .action((options: ExportOptions) => exportData(session, service, options));
  addCsvExportOptions(exporter, service).option(
    '--bom',
    'start with a byte order mark, which Excel needs to detect UTF-8',
  );
}

async function exportData(
  session: Session,
  service: CsvService,
  { organization: givenId, ndjson, bom, ...options }: ExportOptions,
): Promise<void> {
  const output = options.output === '-' ? undefined : options.output;
  const csv = csvExportOf(service, options);
  // If a variable of a script is unset, the data must not go to standard output.
  if (output === '') throw new UsageError('--output must be a file name, or - for standard output');
  if (bom && !csv) throw new UsageError('--bom needs --csv');
  if (session.json && (ndjson || csv) && !output) {
    throw new UsageError(`--json with ${csv ? '--csv' : '--ndjson'} needs --output`);
  }
  const jsonFormat = ndjson ? NDJSON_FORMAT : OBJECT_FORMAT;
  const sections = csv ? [csv.section] : service.datasets.names;
  const exported = await session.withServices(async (services) => {
    const { id } = await findOrganization(services, givenId);
    const exports = services.get(ExportService);
    const format = csv
      ? csvExportFormat(await exportedColumns(services.get(EntityManager), service, csv, id), csv, Boolean(bom))
      : jsonFormat;
    const send = (to: Write) => sendRecords(exports, id, sections, format, to);
    if (output) return writeFile(output, send);
    return send(print).catch((error: unknown) => {
      if (!(error instanceof OutputClosed)) throw error; // `… | head` has read all that it wanted
    });
  });
  if (!exported) return;
  if (!csv && !ndjson && exported.length > MAX_OBJECT_MIB << 20) {
    printStatus(`This is more than ${MAX_OBJECT_MIB} MiB, which import reads only as NDJSON. Use export --ndjson.`);
  }
  if (output) await session.print({ exported: exported.counts });
}

/** Writes text. It resolves when the text has been accepted. */
type Write = (text: string) => Promise<void>;

/** How many characters to collect before they are written. */
const WRITE_LENGTH = 65_536;

async function sendRecords(
  exports: ExportService,
  organizationId: number,
  sections: string[],
  format: ExportFormat,
  to: Write,
): Promise<{ counts: Counts; length: number }> {
  const counts = exports.datasets.noRecords();
  // A progress bar would mix with records on the same terminal.
  const progress = to === print && process.stdout.isTTY ? undefined : new Progress();
  let text = '';
  let total = 0;
  let length = 0;
  try {
    await exports.export(organizationId, sections, async (section, records) => {
      text += format.beginSection(section, sections.indexOf(section));
      let count = 0;
      for await (const record of records) {
        text += format.record(record, section, count++);
        total++;
        if (text.length < WRITE_LENGTH) continue;
        length += text.length;
        await to(text);
        progress?.records(total);
        text = '';
      }
      counts[section] = count;
    });
    await to(text + format.end);
    return { counts, length };
  } finally {
    progress?.stop();
  }
}
