import { Command } from 'commander';
import { openDatabase } from '../../schema/open';
import { command, GlobalOptions } from '../arguments';
import type { Session } from '../session';
import { answer } from '../terminal/terminal';

/** `migrate` */
export function migrateCommand(program: Command, session: Session): void {
  command(program, 'migrate', {
    about: 'Apply the missing migrations now; a server would at its start.',
    result: '{applied: [name]}',
    example: 'migrate',
  }).action((_, self: Command) => run(session, self.optsWithGlobals()));
}

async function run(session: Session, { json }: GlobalOptions): Promise<void> {
  // Like a server at its start, it waits for a PostgreSQL that is not up yet.
  const open: typeof openDatabase = (config, say, waiting) =>
    openDatabase(config, say, { ...waiting, milliseconds: config.databaseWaitMs });
  const applied = await session.withServices((_, database) => Promise.resolve(database.applied), open);
  await answer(json, { applied }, () => (applied.length === 0 ? 'Nothing was missing.' : applied.join('\n')));
}
