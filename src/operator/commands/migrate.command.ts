import { Command } from 'commander';
import { openDatabase } from '../../schema/open';
import { addCommand, GlobalOptions } from '../arguments';
import { withServices } from '../session';
import { printResult } from '../terminal/terminal';

/** `migrate` */
export function migrateCommand(program: Command): void {
  addCommand(program, 'migrate', {
    summary: 'Apply pending migrations now, before a server does so when it starts.',
    jsonResult: '{applied: [name]}',
    example: 'migrate',
  }).action((_, self: Command) => run(self.optsWithGlobals()));
}

async function run({ json }: GlobalOptions): Promise<void> {
  // Like a server that starts, it waits for a PostgreSQL that is not ready yet.
  const open: typeof openDatabase = (config, say, waiting) =>
    openDatabase(config, say, { ...waiting, retryForMs: config.databaseWaitMs });
  const applied = await withServices((_, database) => Promise.resolve(database.appliedMigrations), open);
  await printResult(json, { applied }, () =>
    applied.length === 0 ? 'The database is up to date.' : applied.join('\n'),
  );
}
