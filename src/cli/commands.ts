import { styleText } from 'node:util';
import { Command } from 'commander';
import { PROGRAM } from './arguments';
import { checkCommand } from './commands/check.command';
import { completionCommand } from './commands/completion.command';
import { configCommand } from './commands/config.command';
import { exportCommand } from './commands/export.command';
import { importCommand } from './commands/import.command';
import { keysCommands } from './commands/keys.commands';
import { migrateCommand } from './commands/migrate.command';
import { organizationsCommands } from './commands/organizations.commands';
import { seedCommand } from './commands/seed.command';
import { statusCommand } from './commands/status.command';
import { styled } from './terminal/terminal';

const ABOUT = [
  "The operator's side of Lanyard: organizations, API keys, import and export, and how it all is.",
  'It works on the same database as the server, also while the server runs: the one of DATABASE_URL or, without it,',
  'the embedded PostgreSQL in LANYARD_DATA_DIR (.data).',
].join(' ');

const FIRST_STEPS = `
Examples, from nothing to a key:
  $ ${PROGRAM} organizations create --name "Cobalt Systems"
  $ ${PROGRAM} keys issue --organization 1 --label crm-sync
  $ ${PROGRAM} import dataset.json --organization 1
  $ ${PROGRAM} status
  $ ${PROGRAM} keys issue --help

Results go to standard output, messages and progress to standard error. Colours are for terminals; NO_COLOR takes them
away. completion has a shell complete all of this.
Exit status: 0 done, 1 refused (with one line of reason), 2 wrong usage; 128 and the signal's number when it was ended
(130 by Ctrl-C, 141 when nobody reads its result, or 0 of an export to standard output).`;

const coloured = (format: Parameters<typeof styleText>[0]) => (text: string) =>
  styleText(format, text, { validateStream: false });
/** commander takes the colours away again where they would not be seen. */
const HELP_STYLES = {
  styleTitle: coloured('bold'),
  styleCommandText: coloured('cyan'),
  styleSubcommandText: coloured('cyan'),
  styleOptionText: coloured('cyan'),
  styleArgumentText: coloured('cyan'),
};

/** The whole command line. It throws CommanderError instead of ending the process. */
export function operatorProgram(): Command {
  const program = new Command(PROGRAM)
    .description(ABOUT)
    .usage('<command> [options]')
    .option('--json', 'print the result as one JSON value')
    .exitOverride()
    .showHelpAfterError('(add --help for usage)')
    .configureHelp({ showGlobalOptions: true, ...HELP_STYLES })
    .configureOutput({ outputError: (text, write) => write(styled('red', text, process.stderr)) })
    .addHelpText('after', FIRST_STEPS);
  organizationsCommands(program);
  keysCommands(program);
  importCommand(program);
  exportCommand(program);
  seedCommand(program);
  statusCommand(program);
  checkCommand(program);
  configCommand(program);
  migrateCommand(program);
  completionCommand(program);
  return program;
}
