import { Command } from 'commander';
import { openDatabase } from '../../database/open';
import { command, GlobalOptions } from '../arguments';
import { withDatabase } from '../session';
import { answer } from '../terminal/terminal';

/** `migrate` */
export function migrateCommand(program: Command): void {
  command(program, 'migrate', {
    about: 'Apply the migrations that are missing. Servers do so at their start, too; here it can be done before.',
    result: '{applied: [name]}',
    examples: ['migrate'],
  }).action((_, self: Command) => run(self.optsWithGlobals()));
}

async function run({ json }: GlobalOptions): Promise<void> {
  // As a server does at its start, it waits for a PostgreSQL that is not there yet.
  const open: typeof openDatabase = (config, say, waiting) =>
    openDatabase(config, say, { ...waiting, milliseconds: config.databaseWaitMs });
  const applied = await withDatabase((_, database) => Promise.resolve(database.applied), open);
  await answer(json, { applied }, () => (applied.length === 0 ? 'Nothing was missing.' : applied.join('\n')));
}
