import { Command } from 'commander';
import { openDatabase } from '../../schema/open';
import { addCommand, GlobalOptions } from '../arguments';
import { withServices } from '../session';
import { printResult } from '../terminal/terminal';

/** `migrate` */
export function migrateCommand(program: Command): void {
  addCommand(program, 'migrate', {
    summary: 'Apply the missing migrations now; a server would at its start.',
    jsonResult: '{applied: [name]}',
    example: 'migrate',
  }).action((_, self: Command) => run(self.optsWithGlobals()));
}

async function run({ json }: GlobalOptions): Promise<void> {
  // Like a server at its start, it waits for a PostgreSQL that is not up yet.
  const open: typeof openDatabase = (config, say, waiting) =>
    openDatabase(config, say, { ...waiting, milliseconds: config.databaseWaitMs });
  const applied = await withServices((_, database) => Promise.resolve(database.applied), open);
  await printResult(json, { applied }, () => (applied.length === 0 ? 'Nothing was missing.' : applied.join('\n')));
}
