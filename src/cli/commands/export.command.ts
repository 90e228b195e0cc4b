import { once } from 'node:events';
import { createWriteStream, rmSync } from 'node:fs';
import { chmod, realpath, rename, stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { Command, Option } from 'commander';
import { command, GlobalOptions, organization, requireOrganization } from '../arguments';
import { csvForm } from '../csv/csv.export';
import { csvFormOf, CsvOptions, withCsvOptions } from '../csv/csv.options';
import { Counts, Form, NDJSON, OBJECT } from '../export/export.form';
import { ExportService } from '../export/export.service';
import { SectionName, SECTIONS } from '../import/sections';
import { PROGRAM } from '../program';
import { withDatabase } from '../session';
import { Progress } from '../terminal/progress';
import { answer, OutputClosed, reasonOf, Refusal, UsageError, write } from '../terminal/terminal';

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
    .option('--output <FILE>', 'write a file, complete or not at all; - is standard output', outputName)
    .addHelpText('after', AS_CSV)
    .action((_, self: Command) => exportData(self.optsWithGlobals()));
  withCsvOptions(exporting).option('--bom', 'begin the CSV with a byte order mark: Excel needs it to detect UTF-8');
}

function outputName(value: string): string {
  if (value !== '') return value;
  // An unset variable of a script must not send all data to standard output.
  throw new UsageError('--output must be the name of a file, or - for standard output');
}

async function exportData({ json, organization: id, ndjson, bom, ...options }: ExportOptions): Promise<void> {
  const output = options.output === '-' ? undefined : options.output;
  const csv = csvFormOf(options);
  if (bom && !csv) throw new UsageError('--bom needs --csv');
  if (json && (ndjson || csv) && !output)
    throw new UsageError(`--json with ${csv ? '--csv' : '--ndjson'} needs --output`);
  const form = csv ? csvForm(csv, Boolean(bom)) : ndjson ? NDJSON : OBJECT;
  const sections = csv ? [csv.section] : SECTIONS;
  const counts = await withDatabase(async (dataSource) => {
    await requireOrganization(dataSource, id);
    const exports = new ExportService(dataSource);
    const send = (to: Writable, name: string) => sendRecords(exports, id, sections, to, name, form);
    if (output) return intoFile(output, send);
    await send(process.stdout, 'standard output').catch((error: unknown) => {
      if (!(error instanceof OutputClosed)) throw error; // who wanted the first records (`… | head`) has them
    });
    return undefined;
  });
  if (!counts) return;
  const written = SECTIONS.filter((section) => counts[section] > 0).map((section) => `${counts[section]} ${section}`);
  await answer(json, { exported: counts }, () => `Exported to ${output}: ${written.join(', ') || 'nothing'}`);
}

/** Characters that are written at once. */
const WRITE_SIZE = 65_536;

async function sendRecords(
  exports: ExportService,
  organizationId: number,
  sections: SectionName[],
  to: Writable,
  name: string,
  form: Form,
): Promise<Counts> {
  const counts = Object.fromEntries(SECTIONS.map((section) => [section, 0])) as Counts;
  // Not among the records on the same terminal.
  const isSeen = process.stderr.isTTY && !(to === process.stdout && process.stdout.isTTY);
  const progress = isSeen ? new Progress() : undefined;
  let text = '';
  let last: SectionName | undefined;
  let total = 0;
  try {
    for await (const exported of exports.export(organizationId, sections)) {
      text += form.record(exported, counts, last);
      last = exported.section;
      counts[last]++;
      total++;
      if (text.length < WRITE_SIZE) continue;
      await write(to, text, name);
      progress?.records(total);
      text = '';
    }
    await write(to, text + form.end(last), name);
    return counts;
  } finally {
    progress?.stop();
  }
}

/**
 * Writes next to the file and renames when complete, so that half an export never replaces an earlier one. Permissions
 * and symbolic links are kept.
 */
async function intoFile(file: string, send: (to: Writable, name: string) => Promise<Counts>): Promise<Counts> {
  const existing = await stat(file).catch(() => undefined);
  const isReplaceable = existing?.isFile() ?? true; // unlike a pipe or a device
  const target = existing && isReplaceable ? await realpath(file) : file;
  const path = isReplaceable ? `${target}.${process.pid}.part` : file;
  if (isReplaceable) process.once('exit', () => rmSync(path, { force: true })); // also after a signal
  const to = createWriteStream(path, { mode: existing?.mode, flush: isReplaceable });
  await named(file, once(to, 'open'));
  if (existing && isReplaceable) await named(file, chmod(path, existing.mode)); // against the umask
  to.on('error', () => undefined); // a failed write rejects its own promise
  const counts = await send(to, file);
  to.end();
  await named(file, once(to, 'close'));
  if (isReplaceable) await named(file, rename(path, target));
  return counts;
}

/** @throws Refusal that names the file when the work on it fails */
const named = <T>(file: string, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => Promise.reject(new Refusal(`cannot write ${file}: ${reasonOf(error)}`)));
