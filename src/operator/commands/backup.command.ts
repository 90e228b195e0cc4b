import { lstatSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { Command } from 'commander';
import { type Config, readConfig } from '../../config';
import { findDatabase } from '../../schema/open';
import { majorOf } from '../../embedded-postgres/cluster';
import { BackupService } from '../backup.service';
import type { RowCounts } from '../backup-file';
import { PROGRAM } from '../../server/command-name';
import { addCommand, GlobalOptions } from '../arguments';
import { writeFile } from '../output-file';
import type { Session } from '../session';
import { formatNumber } from '../terminal/table';
import { printResult, CommandError } from '../terminal/terminal';

const NOTES = `
The backup is of one moment: everything that was acknowledged before is in it.
It holds personal data, hashes of API keys and the secrets of webhooks, so that
only its owner may read the file. A pg_dump does the same for a PostgreSQL of
your own. To restore it:
  $ ${PROGRAM} restore lanyard.backup`;

/** `backup` */
export function backupCommand(program: Command, session: Session): void {
  addCommand(program, 'backup', {
    summary: 'Write the whole database to a file, also while the server runs.',
    jsonResult: '{backedUp: {organizations, leads, …}, bytes}, counts of rows and the size of the file',
    example: 'backup lanyard.backup',
  })
    .argument('<FILE>', 'new file, which is written completely or not at all')
    .addHelpText('after', NOTES)
    .action((file: string, _, self: Command) => backup(session, file, self.optsWithGlobals()));
}

async function backup(session: Session, file: string, { json }: GlobalOptions): Promise<void> {
  requireDatabase(readConfig());
  if (lstatSync(file, { throwIfNoEntry: false })) throw new CommandError(`${file} exists already: name a new file`);
  const backedUp: RowCounts = {};
  // Without the migrations of this release: a backup comes before an upgrade.
  await session.withServices((services) => compress(services.get(BackupService).backup(backedUp), file), findDatabase);
  const { size: bytes } = await stat(file);
  await printResult(json, { backedUp, bytes }, () => {
    const { organizations = 0, leads = 0 } = backedUp;
    return `Backed up ${formatNumber(organizations)} organizations with ${formatNumber(leads)} leads to ${file} (${formatNumber(bytes)} bytes)`;
  });
}

/** Opening the embedded PostgreSQL would create it. */
function requireDatabase({ databaseUrl, dataDir }: Config): void {
  if (!databaseUrl && majorOf(dataDir) === undefined) throw new CommandError(`there is no database yet in ${dataDir}`);
}

/** Compresses the backup into the file. */
const compress = (backup: AsyncIterable<string | Buffer>, file: string): Promise<void> =>
  writeFile(file, (append) =>
    pipeline(backup, createGzip({ level: constants.Z_BEST_SPEED }), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) await append(chunk);
    }),
  );
