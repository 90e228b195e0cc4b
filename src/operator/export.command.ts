import { once } from 'node:events';
import { createWriteStream, rmSync } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { Command } from 'commander';
import type { DataSource } from 'typeorm';
import { command, GlobalOptions, organization, requireOrganization } from './arguments';
import { SectionName, SECTIONS } from './dataset';
import { ExportedRecord, ExportService } from './export.service';
import { Progress } from './progress';
import { withDatabase } from './session';
import { answer, reasonOf, Refusal, UsageError, write } from './terminal';

interface ExportOptions extends GlobalOptions {
  organization: number;
  ndjson?: boolean;
  output?: string;
}

type Counts = Record<SectionName, number>;

/** `export` */
export function exportCommand(program: Command): void {
  command(program, 'export', {
    about: 'Write all data of an organization, and the catalogue of industry events, as import reads it.',
    result: 'the dataset, which it is in any case, or with --output {exported: {users, leads, …}}, counts of records',
    examples: ['export --organization 1 > backup.json', 'export --organization 1 --ndjson --output backup.ndjson'],
  })
    .requiredOption('--organization <ID>', 'whose data', organization)
    .option('--ndjson', 'a record a line instead of one JSON object')
    .option('--output <FILE>', 'write to a file, which is there when it is complete, instead of standard output')
    .action((_, self: Command) => exportData(self.optsWithGlobals<ExportOptions>()));
}

async function exportData({ json, organization: id, ndjson, output }: ExportOptions): Promise<void> {
  if (json && ndjson && !output)
    throw new UsageError('--json is one JSON value, and --ndjson is many: give one of them');
  const counts = await withDatabase(async (dataSource) => {
    await requireOrganization(dataSource, id);
    const send = (to: Writable, name: string) => sendRecords(dataSource, id, to, name, ndjson ? NDJSON : OBJECT);
    return output ? intoFile(output, send) : send(process.stdout, 'standard output');
  });
  if (!output) return;
  const written = SECTIONS.filter((section) => counts[section] > 0).map((section) => `${counts[section]} ${section}`);
  await answer(json, { exported: counts }, () => `Exported to ${output}: ${written.join(', ') || 'nothing'}`);
}

/** How records become text: what stands before each, and at the end. */
interface Form {
  record(exported: ExportedRecord, written: Counts, before: SectionName | undefined): string;
  end(last: SectionName | undefined): string;
}

const NDJSON: Form = {
  record: ({ section, record }) => `{"section":"${section}","record":${record}}\n`,
  end: () => '',
};

/** Opens the sections from after one up to another; those between have no record. */
const opened = (before: SectionName | undefined, last: SectionName): string =>
  SECTIONS.slice(before ? SECTIONS.indexOf(before) + 1 : 0, SECTIONS.indexOf(last) + 1)
    .map((section) => `${section === SECTIONS[0] ? '{' : '],\n'}"${section}":[`)
    .join('');

const OBJECT: Form = {
  record: ({ section, record }, written, before) =>
    `${section === before ? '' : opened(before, section)}${written[section] > 0 ? ',' : ''}\n${record}`,
  end: (last) => `${opened(last, 'industryEvents')}]}\n`,
};

/** Characters that are sent at once. */
const PART = 65_536;

async function sendRecords(
  dataSource: DataSource,
  organizationId: number,
  to: Writable,
  name: string,
  form: Form,
): Promise<Counts> {
  const counts = Object.fromEntries(SECTIONS.map((section) => [section, 0])) as Counts;
  const progress = new Progress(undefined, process.stderr.isTTY && !(to === process.stdout && process.stdout.isTTY));
  let text = '';
  let last: SectionName | undefined;
  let total = 0;
  try {
    for await (const exported of new ExportService(dataSource).export(organizationId)) {
      text += form.record(exported, counts, last);
      last = exported.section;
      counts[last]++;
      total++;
      if (text.length < PART) continue;
      await write(to, text, name);
      progress.records(total);
      text = '';
    }
    await write(to, text + form.end(last), name);
    return counts;
  } finally {
    progress.stop();
  }
}

/** Writes beside the file and puts it in its place when complete: an earlier one is never lost to half of a new one. */
async function intoFile(file: string, send: (to: Writable, name: string) => Promise<Counts>): Promise<Counts> {
  const isReplaceable = await stat(file).then(
    (there) => there.isFile(),
    () => true,
  );
  const path = isReplaceable ? `${file}.${process.pid}.part` : file;
  // also when the process is told to stop; in its place, the file has this name no more
  if (isReplaceable) process.once('exit', () => rmSync(path, { force: true }));
  const to = createWriteStream(path);
  await named(file, once(to, 'open'));
  to.on('error', () => undefined); // a write that fails rejects its own promise
  const counts = await send(to, file);
  to.end();
  await named(file, once(to, 'close'));
  if (isReplaceable) await named(file, rename(path, file));
  return counts;
}

/** @throws Refusal that names the file when the work on it fails */
function named<T>(file: string, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => Promise.reject(new Refusal(`cannot write ${file}: ${reasonOf(error)}`)));
}
