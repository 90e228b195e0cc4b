import { Command } from 'commander';
import { checkCommand } from './check.command';
import { exportCommand } from './export.command';
import { importCommand } from './import.command';
import { keysCommands } from './keys.commands';
import { organizationsCommands } from './organizations.commands';

const ABOUT = [
  "The operator's side of Lanyard: organizations, API keys, import and export.",
  'It works on the same database as the server, also while the server runs: the one of DATABASE_URL or, without it,',
  'the embedded PostgreSQL in LANYARD_DATA_DIR (.data).',
].join(' ');

const FIRST_STEPS = `
Examples, from nothing to a key:
  $ npm run --silent operator -- organizations create --name "Cobalt Systems"
  $ npm run --silent operator -- keys issue --organization 1 --label crm-sync
  $ npm run --silent operator -- import dataset.json --organization 1
  $ npm run --silent operator -- keys issue --help

Results go to standard output, messages and progress to standard error.
Exit status: 0 done, 1 refused (with one line of reason), 2 wrong usage.`;

/** The whole command line. It throws CommanderError instead of ending the process. */
export function operatorProgram(): Command {
  const program = new Command('npm run --silent operator --')
    .description(ABOUT)
    .usage('<command> [options]')
    .option('--json', 'print the result as one JSON value')
    .exitOverride()
    .showHelpAfterError('(add --help for usage)')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', FIRST_STEPS);
  organizationsCommands(program);
  keysCommands(program);
  importCommand(program);
  exportCommand(program);
  checkCommand(program);
  return program;
}
