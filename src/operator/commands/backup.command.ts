import { lstatSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import type { Command } from 'commander';
import { findDatabase } from '../../data/schema/open';
import { BackupService } from '../../exchange/backup/backup.service';
import type { RowCounts } from '../../exchange/backup/backup-file';
import { addCommand } from '../arguments';
import { writeFile } from '../output-file';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';
import { CommandError } from '../terminal/terminal';

/** The command `backup`. */
export function backupCommand(program: Command, session: Session): void {
  addCommand(program, 'backup', {
    summary: SUMMARIES.backup,
    notes:
      'A backup is a consistent snapshot of everything that was stored before it began. It contains personal data, hashes of ' +
      'API keys and the secrets of webhooks, so only the owner of the file may read it.',
    example: 'backup lanyard.backup',
  })
    .argument('<FILE>', 'file to create; it is written completely or not at all')
    .action((file: string) => backup(session, file));
}

async function backup(session: Session, file: string): Promise<void> {
  if (lstatSync(file, { throwIfNoEntry: false }))
    throw new CommandError(`${file} already exists. Choose another file name.`);
  const backedUp: RowCounts = {};
  // The database is opened without migrating it, because a backup is made before an upgrade.
  await session.withServices((services) => compress(services.get(BackupService).backup(backedUp), file), findDatabase);
  const { size: bytes } = await stat(file);
  await session.print({ backedUp, bytes });
}

/** Compresses the backup into the file. */
const compress = (backup: AsyncIterable<string | Buffer>, file: string): Promise<void> =>
  writeFile(file, (append) =>
    pipeline(backup, createGzip({ level: constants.Z_BEST_SPEED }), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) await append(chunk);
    }),
  );
