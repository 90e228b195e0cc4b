import { once } from 'node:events';
import { createWriteStream, rmSync } from 'node:fs';
import { chmod, realpath, rename, stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { Command, Option } from 'commander';
import { command, GlobalOptions, organization, PROGRAM, requireOrganization } from '../arguments';
import { csvForm } from '../csv/csv.export';
import { csvFormOf, CsvOptions, withCsvOptions } from '../csv/csv.options';
import { SectionName, SECTIONS } from '../import/dataset';
import { Counts, Form, NDJSON, OBJECT } from '../export/export.form';
import { ExportService } from '../export/export.service';
import { Progress } from '../terminal/progress';
import { withDatabase } from '../session';
import { answer, OutputClosed, reasonOf, Refusal, UsageError, write } from '../terminal/terminal';

interface ExportOptions extends GlobalOptions, CsvOptions {
  organization: number;
  ndjson?: boolean;
  bom?: boolean;
  output?: string;
}

const AS_CSV = `
As CSV: one section, a record a line, a column a field, with the fields' names in the first line; import reads it back
without a loss. With --map it has those columns alone, in that order:
  $ ${PROGRAM} export --organization 1 --csv leads --map "E-mail=email" --map "Firm=company.name"
A cell that a spreadsheet would take for a formula (=, +, -, @ …) gets a quote before it, which import takes away again;
--raw leaves it as it is, for other programs.`;

/** `export` */
export function exportCommand(program: Command): void {
  const exporting = command(program, 'export', {
    about: 'Write all data of an organization, and the catalogue of industry events, as import reads it.',
    result: 'the dataset, which it is in any case, or with --output {exported: {users, leads, …}}, counts of records',
    examples: [
      'export --organization 1 > backup.json',
      'export --organization 1 --ndjson --output backup.ndjson',
      'export --organization 1 --csv leads --bom --output leads.csv',
    ],
  })
    .requiredOption('--organization <ID>', 'whose data', organization)
    .addOption(new Option('--ndjson', 'a record a line instead of one JSON object').conflicts('csv'))
    .option(
      '--output <FILE>',
      'write to a file, which is there when it is complete, instead of standard output (-)',
      outputName,
    )
    .addHelpText('after', AS_CSV)
    .action((_, self: Command) => exportData(self.optsWithGlobals<ExportOptions>()));
  withCsvOptions(exporting).option('--bom', 'begin the CSV with a byte order mark, by which Excel knows UTF-8');
}

const STANDARD_OUTPUT = '-';

function outputName(value: string): string {
  if (value !== '') return value;
  // A variable of a script that was never set must not send all data to wherever its output goes.
  throw new UsageError(`--output must be the name of a file, or ${STANDARD_OUTPUT} for standard output`);
}

async function exportData({ json, organization: id, ndjson, bom, ...options }: ExportOptions): Promise<void> {
  const output = options.output === STANDARD_OUTPUT ? undefined : options.output;
  const csv = csvFormOf(options);
  if (bom && !csv) throw new UsageError('--bom is about CSV: --csv SECTION must be given');
  if (json && (ndjson || csv) && !output) {
    throw new UsageError(
      `--json is one JSON value, and ${ndjson ? '--ndjson is many' : '--csv is none'}: give one of them`,
    );
  }
  const form = csv ? csvForm(csv, Boolean(bom)) : ndjson ? NDJSON : OBJECT;
  const sections = csv ? [csv.section] : SECTIONS;
  const counts = await withDatabase(async (dataSource) => {
    await requireOrganization(dataSource, id);
    const send = (to: Writable, name: string) =>
      sendRecords(new ExportService(dataSource), id, sections, to, name, form);
    if (output) return intoFile(output, send);
    await send(process.stdout, 'standard output').catch(unlessClosed);
    return undefined;
  });
  if (!counts) return;
  const written = SECTIONS.filter((section) => counts[section] > 0).map((section) => `${counts[section]} ${section}`);
  await answer(json, { exported: counts }, () => `Exported to ${output}: ${written.join(', ') || 'nothing'}`);
}

/** Whoever wanted the first records alone (`… | head`) has them. */
function unlessClosed(error: unknown): void {
  if (!(error instanceof OutputClosed)) throw error;
}

/** Characters that are sent at once. */
const PART = 65_536;

async function sendRecords(
  exports: ExportService,
  organizationId: number,
  sections: SectionName[],
  to: Writable,
  name: string,
  form: Form,
): Promise<Counts> {
  const counts = Object.fromEntries(SECTIONS.map((section) => [section, 0])) as Counts;
  // Among the records on one terminal a bar would be in the way.
  const isSeen = process.stderr.isTTY && !(to === process.stdout && process.stdout.isTTY);
  const progress = isSeen ? new Progress({ records: await exports.total(organizationId, sections) }) : undefined;
  let text = '';
  let last: SectionName | undefined;
  let total = 0;
  try {
    for await (const exported of exports.export(organizationId, sections)) {
      text += form.record(exported, counts, last);
      last = exported.section;
      counts[last]++;
      total++;
      if (text.length < PART) continue;
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
 * Writes beside the file and puts it in its place when complete: an earlier one is never lost to half of a new one, and
 * whoever could not read it cannot read the new one.
 */
async function intoFile(file: string, send: (to: Writable, name: string) => Promise<Counts>): Promise<Counts> {
  const there = await stat(file).catch(() => undefined);
  const isReplaceable = there?.isFile() ?? true;
  const place = there && isReplaceable ? await realpath(file) : file; // a link stays one
  const path = isReplaceable ? `${place}.${process.pid}.part` : file;
  // also when the process is told to stop; in its place, the file has this name no more
  if (isReplaceable) process.once('exit', () => rmSync(path, { force: true }));
  const to = createWriteStream(path, { mode: there?.mode, flush: isReplaceable });
  await named(file, once(to, 'open'));
  if (there && isReplaceable) await named(file, chmod(path, there.mode)); // also what the umask took
  to.on('error', () => undefined); // a write that fails rejects its own promise
  const counts = await send(to, file);
  to.end();
  await named(file, once(to, 'close'));
  if (isReplaceable) await named(file, rename(path, place));
  return counts;
}

/** @throws Refusal that names the file when the work on it fails */
function named<T>(file: string, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => Promise.reject(new Refusal(`cannot write ${file}: ${reasonOf(error)}`)));
}
