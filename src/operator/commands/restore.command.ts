import type { Command } from 'commander';
import { findDatabase } from '../../data/schema/open';
import { BackupReader, verifyBackup } from '../../exchange/backup/backup-file';
import { RestoreService } from '../../exchange/backup/restore.service';
import { addCommand } from '../arguments';
import { fileSize, openAgain } from '../input';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';
import { Progress } from '../terminal/progress';
import { printStatus } from '../terminal/terminal';

/** The command `restore`. */
export function restoreCommand(program: Command, session: Session): void {
  addCommand(program, 'restore', {
    summary: SUMMARIES.restore,
    notes:
      'The restore is all or nothing. The database must be empty: set DATABASE_URL to an empty database, or ' +
      'LANYARD_DATA_DIR to an empty directory.',
    example: 'restore lanyard.backup',
  })
    .argument('<FILE>', 'file that "backup" wrote')
    .action((file: string) => restoreFile(session, file));
}

async function restoreFile(session: Session, file: string): Promise<void> {
  const progress = new Progress(fileSize(file));
  const open = openAgain(file, progress);
  // A damaged file is found before a database is created for it.
  await verifyBackup(new BackupReader(file, open()));
  try {
    const result = await session.withServices(
      (services, _, beforeCommit) =>
        services.get(RestoreService).restore(open(), { name: file, log: printStatus, beforeCommit }),
      findDatabase,
      { createIfMissing: true },
    );
    await session.print(result);
  } finally {
    progress.stop();
  }
}
