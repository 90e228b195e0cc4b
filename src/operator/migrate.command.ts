import { Command } from 'commander';
import { readConfig } from '../config';
import { openDatabase } from '../database/open';
import { command, GlobalOptions } from './arguments';
import { answer, say } from './terminal';

/** `migrate` */
export function migrateCommand(program: Command): void {
  command(program, 'migrate', {
    about: 'Apply the migrations that are missing. Servers do so at their start, too; here it can be done before.',
    result: '{applied: [name]}',
    examples: ['migrate'],
  }).action((_, self: Command) => run(self.optsWithGlobals()));
}

async function run({ json }: GlobalOptions): Promise<void> {
  const config = readConfig();
  const database = await openDatabase(config, say, { milliseconds: config.databaseWaitMs, say });
  await database.close();
  const { applied } = database;
  await answer(json, { applied }, () => (applied.length === 0 ? 'Nothing was missing.' : applied.join('\n')));
}
