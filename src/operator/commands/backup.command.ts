import { lstatSync, rmSync } from 'node:fs';
import { type FileHandle, open, rename, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { Command } from 'commander';
import { type Config, readConfig } from '../../config';
import { findDatabase } from '../../schema/open';
import { majorOf } from '../../embedded-postgres/cluster';
import { BackupService } from '../backup.service';
import type { RowCounts } from '../backup-file';
import { PROGRAM } from '../../server/command-name';
import { command, GlobalOptions } from '../arguments';
import { withServices } from '../session';
import { figure } from '../terminal/table';
import { answer, reasonOf, Refusal } from '../terminal/terminal';

const NOTES = `
The backup is of one moment: everything that was acknowledged before is in it.
It holds personal data, hashes of API keys and the secrets of webhooks, so that
only its owner may read the file. A pg_dump does the same for a PostgreSQL of
your own. To restore it:
  $ ${PROGRAM} restore lanyard.backup`;

/** `backup` */
export function backupCommand(program: Command): void {
  command(program, 'backup', {
    about: 'Write the whole database to a file, also while the server runs.',
    result: '{backedUp: {organizations, leads, …}, bytes}, counts of rows and the size of the file',
    example: 'backup lanyard.backup',
  })
    .argument('<FILE>', 'new file, which is written completely or not at all')
    .addHelpText('after', NOTES)
    .action((file: string, _, self: Command) => backup(file, self.optsWithGlobals()));
}

async function backup(file: string, { json }: GlobalOptions): Promise<void> {
  requireDatabase(readConfig());
  if (lstatSync(file, { throwIfNoEntry: false })) throw new Refusal(`${file} exists already: name a new file`);
  const backedUp: RowCounts = {};
  // Without the migrations of this release: a backup comes before an upgrade.
  await withServices((services) => write(file, services.get(BackupService).backup(backedUp)), findDatabase);
  const { size: bytes } = await stat(file);
  await answer(json, { backedUp, bytes }, () => {
    const { organizations = 0, leads = 0 } = backedUp;
    return `Backed up ${figure(organizations)} organizations with ${figure(leads)} leads to ${file} (${figure(bytes)} bytes)`;
  });
}

/** Opening the embedded PostgreSQL would create it. */
function requireDatabase({ databaseUrl, dataDir }: Config): void {
  if (!databaseUrl && majorOf(dataDir) === undefined) throw new Refusal(`there is no database yet in ${dataDir}`);
}

/** Writes next to the file and renames when complete, so that a file of that name is a whole backup. */
async function write(file: string, backup: AsyncIterable<string | Buffer>): Promise<void> {
  const part = `${file}.${process.pid}.part`;
  const output = await named(file, open(part, 'wx', 0o600));
  const removePart = () => rmSync(part, { force: true });
  process.once('exit', removePart); // also after a signal
  try {
    const gzip = createGzip({ level: constants.Z_BEST_SPEED });
    await pipeline(backup, gzip, (chunks: AsyncIterable<Buffer>) => append(file, output, chunks));
    await named(file, output.sync());
    await named(file, rename(part, file));
  } finally {
    await output.close();
    removePart();
    process.off('exit', removePart);
  }
}

async function append(file: string, output: FileHandle, chunks: AsyncIterable<Buffer>): Promise<void> {
  for await (const chunk of chunks) await named(file, output.appendFile(chunk));
}

/** @throws Refusal that names the file when the work on it fails */
const named = <T>(file: string, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => Promise.reject(new Refusal(`cannot write ${file}: ${reasonOf(error)}`)));
