import { once } from 'node:events';
import { createWriteStream, rmSync } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { Command, Option } from 'commander';
import type { DataSource } from 'typeorm';
import { command, GlobalOptions, organization, requireOrganization } from '../arguments';
import { csvFormOf, CsvOptions, withCsvOptions } from '../csv/csv.options';
import { csvForm, type Form, NDJSON, OBJECT } from '../export/export.form';
import { exportSections } from '../export/export.service';
import { SectionName, SECTIONS } from '../import/sections';
import { PROGRAM } from '../program';
import { withDatabase } from '../session';
import { Progress } from '../terminal/progress';
import { answer, OutputClosed, reasonOf, Refusal, UsageError, write } from '../terminal/terminal';
import { countsText } from './import.command';

/** Records, a section. */
type Counts = Record<SectionName, number>;

interface ExportOptions extends GlobalOptions, CsvOptions {
  organization: number;
  ndjson?: boolean;
  bom?: boolean;
  output?: string;
}

const AS_CSV = `
As CSV it is one section, with field names in the first line; import reads it
back without loss. With --map it has only those columns, in that order:
  $ ${PROGRAM} export --organization 1 \\
    --csv leads --map "E-mail=email" --map "Firm=company.name"
A cell that a spreadsheet would run as a formula (=, +, -, @ …) gets a quote
before it, which import removes; --raw leaves it as it is, for other programs.`;

/** `export` */
export function exportCommand(program: Command): void {
  const exporting = command(program, 'export', {
    about: 'Write all data of an organization, and the catalogue of industry events, as import reads it.',
    result: 'the dataset, as without it; with --output {exported: {users, leads, …}}, counts of records',
    example: 'export --organization 1 > backup.json',
  })
    .requiredOption('--organization <ID>', 'organization whose data is exported', organization)
    .addOption(new Option('--ndjson', 'one record a line instead of one JSON object').conflicts('csv'))
    .option('--output <FILE>', 'write a file, complete or not at all; - is standard output')
    .addHelpText('after', AS_CSV)
    .action((_, self: Command) => exportData(self.optsWithGlobals()));
  withCsvOptions(exporting).option('--bom', 'begin the CSV with a byte order mark: Excel needs it to detect UTF-8');
}

async function exportData({ json, organization: id, ndjson, bom, ...options }: ExportOptions): Promise<void> {
  const output = options.output === '-' ? undefined : options.output;
  const csv = csvFormOf(options);
  // An unset variable of a script must not send all data to standard output.
  if (output === '') throw new UsageError('--output must be the name of a file, or - for standard output');
  if (bom && !csv) throw new UsageError('--bom needs --csv');
  if (json && (ndjson || csv) && !output) {
    throw new UsageError(`--json with ${csv ? '--csv' : '--ndjson'} needs --output`);
  }
  const form = csv ? csvForm(csv, Boolean(bom)) : ndjson ? NDJSON : OBJECT;
  const sections = csv ? [csv.section] : SECTIONS;
  const counts = await withDatabase(async (dataSource) => {
    await requireOrganization(dataSource, id);
    const send = (to: Writable, name: string) => sendRecords(dataSource, id, sections, form, to, name);
    if (output) return intoFile(output, send);
    await send(process.stdout, 'standard output').catch((error: unknown) => {
      if (!(error instanceof OutputClosed)) throw error; // who wanted the first records (`… | head`) has them
    });
    return undefined;
  });
  if (!counts) return;
  await answer(json, { exported: counts }, () => `Exported to ${output}: ${countsText(counts)}`);
}

/** Characters that are written at once. */
const WRITE_SIZE = 65_536;

async function sendRecords(
  dataSource: DataSource,
  organizationId: number,
  sections: SectionName[],
  form: Form,
  to: Writable,
  name: string,
): Promise<Counts> {
  const counts = Object.fromEntries(SECTIONS.map((section) => [section, 0])) as Counts;
  // Not among the records on the same terminal.
  const isSeen = process.stderr.isTTY && !(to === process.stdout && process.stdout.isTTY);
  const progress = isSeen ? new Progress() : undefined;
  let text = '';
  let total = 0;
  try {
    await exportSections(dataSource, organizationId, sections, async (section, records) => {
      text += form.begin(section);
      for await (const record of records) {
        text += form.record(record, section, counts[section]++);
        total++;
        if (text.length < WRITE_SIZE) continue;
        await write(to, text, name);
        progress?.records(total);
        text = '';
      }
    });
    await write(to, text + form.end, name);
    return counts;
  } finally {
    progress?.stop();
  }
}

/** Writes next to the file and renames when complete, so that half an export never replaces an earlier one. */
async function intoFile(file: string, send: (to: Writable, name: string) => Promise<Counts>): Promise<Counts> {
  const existing = await stat(file).catch(() => undefined);
  if (existing?.isFile() === false) throw new Refusal(`cannot write ${file}: it is no regular file`);
  const part = `${file}.${process.pid}.part`;
  process.once('exit', () => rmSync(part, { force: true })); // also after a signal
  // With the permissions of the earlier file: it may be for its owner only.
  const to = createWriteStream(part, { mode: existing?.mode, flush: true });
  await named(file, once(to, 'open'));
  to.on('error', () => undefined); // a failed write rejects its own promise
  const counts = await send(to, file);
  await named(file, once(to.end(), 'close'));
  await named(file, rename(part, file));
  return counts;
}

/** @throws Refusal that names the file when the work on it fails */
const named = <T>(file: string, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => Promise.reject(new Refusal(`cannot write ${file}: ${reasonOf(error)}`)));
