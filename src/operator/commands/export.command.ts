import { Command, Option } from 'commander';
import { EntityManager } from 'typeorm';
import type { CsvService } from '../../csv/csv.service';
import { addCommand, GlobalOptions, parseOrganizationId, findOrganization } from '../arguments';
import type { Counts } from '../../datasets/dataset';
import type { CsvFormat } from '../../csv/csv-columns';
import { csvExportFormat, exportedColumns } from '../../csv/csv-export';
import { type ExportFormat, NDJSON_FORMAT, OBJECT_FORMAT } from '../../datasets/export-format';
import { ExportService } from '../../datasets/export.service';
import { PROGRAM } from '../../server/command-name';
import { csvFormatOf, CsvOptions, requireExported, withCsvOptions } from '../csv.options';
import { writeFile } from '../output-file';
import type { Session } from '../session';
import { Progress } from '../terminal/progress';
import { printResult, OutputClosed, print, UsageError } from '../terminal/terminal';
import { countsText } from './import.command';

interface ExportOptions extends GlobalOptions, CsvOptions {
  organization: number;
  ndjson?: boolean;
  bom?: boolean;
  output?: string;
}

const CSV_NOTES = `
CSV has one section, with the names of fields in the first line, and can be
imported again without loss. With --map it has only those columns, in that
order:
  $ ${PROGRAM} export --organization 1 \\
    --csv leads --map "E-mail=email" --map "Firm=company.name"
A cell that a spreadsheet would run as a formula (=, +, -, @ …) gets an
apostrophe before it, which import removes. Use --raw for other programs.`;

/** `export` */
export function exportCommand(program: Command, session: Session, service: CsvService): void {
  const exporter = addCommand(program, 'export', {
    summary: 'Export all data of an organization, and the catalog of industry events.',
    jsonResult: 'the dataset, as without it; with --output {exported: {users, leads, …}}, counts of records',
    example: 'export --organization 1 > backup.json',
  })
    .requiredOption('--organization <ID>', 'organization whose data is exported', parseOrganizationId)
    .addOption(new Option('--ndjson', 'write one record per line instead of one JSON object').conflicts('csv'))
    .option('--output <FILE>', 'write the complete file or nothing; - is standard output')
    .addHelpText('after', CSV_NOTES)
    .action((_, self: Command) => exportData(session, service, self.optsWithGlobals()));
  withCsvOptions(exporter, service).option('--bom', 'begin with a byte order mark, which Excel needs to detect UTF-8');
}

async function exportData(
  session: Session,
  service: CsvService,
  { json, organization: id, ndjson, bom, ...options }: ExportOptions,
): Promise<void> {
  const output = options.output === '-' ? undefined : options.output;
  const csv = csvFormatOf(service, options);
  // An unset variable of a script must not send all data to standard output.
  if (output === '') throw new UsageError('--output must be the name of a file, or - for standard output');
  if (bom && !csv) throw new UsageError('--bom needs --csv');
  if (json && (ndjson || csv) && !output) {
    throw new UsageError(`--json with ${csv ? '--csv' : '--ndjson'} needs --output`);
  }
  if (csv) requireExported(csv);
  const sections = csv ? [csv.section] : service.datasets.names;
  const counts = await session.withServices(async (services) => {
    await findOrganization(services, id);
    const exports = services.get(ExportService);
    const jsonFormat = ndjson ? NDJSON_FORMAT : OBJECT_FORMAT;
    const format = csv
      ? await csvExportFormatOf(services.get(EntityManager), service, id, csv, Boolean(bom))
      : jsonFormat;
    const send = (to: Write) => sendRecords(exports, id, sections, format, to);
    if (output) return writeFile(output, send);
    return send(print).catch((error: unknown) => {
      if (!(error instanceof OutputClosed)) throw error; // who wanted the first records (`… | head`) has them
    });
  });
  if (output && counts)
    await printResult(json, { exported: counts }, () => `Exported to ${output}: ${countsText(counts)}`);
}

async function csvExportFormatOf(
  manager: EntityManager,
  service: CsvService,
  id: number,
  csv: CsvFormat,
  bom: boolean,
): Promise<ExportFormat> {
  const columns = await exportedColumns(manager, service, csv, id);
  return csvExportFormat(columns, csv, bom);
}

/** Where text goes; resolves when it has been taken. */
type Write = (text: string) => Promise<void>;

/** Characters that are written at once. */
const WRITE_LENGTH = 65_536;

async function sendRecords(
  exports: ExportService,
  organizationId: number,
  sections: string[],
  format: ExportFormat,
  to: Write,
): Promise<Counts> {
  const counts = exports.datasets.noRecords();
  // Not among the records on the same terminal.
  const progress = to === print && process.stdout.isTTY ? undefined : new Progress();
  let text = '';
  let total = 0;
  try {
    await exports.export(organizationId, sections, async (section, records) => {
      text += format.beginSection(section, sections.indexOf(section));
      let count = 0;
      for await (const record of records) {
        text += format.record(record, section, count++);
        total++;
        if (text.length < WRITE_LENGTH) continue;
        await to(text);
        progress?.records(total);
        text = '';
      }
      counts[section] = count;
    });
    await to(text + format.end);
    return counts;
  } finally {
    progress?.stop();
  }
}
