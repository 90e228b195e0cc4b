import type { Command } from 'commander';
import { DATABASE_WAIT_MS } from '../../config';
import { revertExtension } from '../../data/schema/migrate';
import { findDatabase, openDatabase } from '../../data/schema/open';
import { addCommand } from '../arguments';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';
import { printStatus } from '../terminal/terminal';

/** The command `migrate`. */
export function migrateCommand(program: Command, session: Session): void {
  addCommand(program, 'migrate', {
    summary: SUMMARIES.migrate,
    example: 'migrate',
  })
    .option('--revert-extension', 'revert all migrations of the extension before you remove it; this deletes its data')
    .action((options: { revertExtension?: true }) => (options.revertExtension ? revert(session) : run(session)));
}

async function revert(session: Session): Promise<void> {
  const reverted = await session.withServices(
    (_, { url }) => revertExtension(url, session.schema, { log: printStatus }),
    findDatabase,
  );
  await session.print({ reverted });
}

async function run(session: Session): Promise<void> {
  const applied = await session.withServices(
    (_, database) => Promise.resolve(database.appliedMigrations),
    openDatabase,
    // Like a server that starts, it waits for a PostgreSQL that is not ready yet.
    { retryForMs: DATABASE_WAIT_MS, createIfMissing: true },
  );
  await session.print({ applied });
}
