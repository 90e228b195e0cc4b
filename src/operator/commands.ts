import type { Command } from 'commander';
import { version } from '../../package.json';
import type { CsvService } from '../exchange/csv/csv.service';
import type { Extension } from '../extensions/extension';
import { COMMAND_NAME } from './command-name';
import { Program } from './program';
import type { Session } from './session';
import { type CommandName, SUMMARIES } from './summaries';

const DESCRIPTION =
  'The Lanyard server, and the command line for its operator: organizations, API keys, data, webhooks and status.\n\n' +
  "Commands work on the server's database, even while it is running. That is DATABASE_URL or, if it is not set, the " +
  'embedded PostgreSQL in LANYARD_DATA_DIR (.data).';

const NOTES = `
Example, from an empty database to an API key:
  $ ${COMMAND_NAME} migrate
  $ ${COMMAND_NAME} organizations create --name "Cobalt Systems"
  $ ${COMMAND_NAME} keys issue --label crm-sync

Results go to standard output, messages and progress to standard error.
Exit status: 0 for success, 1 for a failure, 2 for wrong usage; 128 plus the
number of the signal that interrupted the command (130 for Ctrl-C); 141 if
standard output was closed before the result was written.`;

/** Adds a command to the program, with its options and what it does. */
type AddCommand = (program: Command, session: Session, csv: CsvService) => void;

/** Loads a command, and with it all that it works with. That takes a second, so that it is done for the one that runs. */
const COMMANDS: Record<CommandName, () => AddCommand> = {
  start: () => (module.require('./commands/start.command') as typeof import('./commands/start.command')).startCommand,
  organizations: () =>
    (module.require('./commands/organizations.command') as typeof import('./commands/organizations.command'))
      .organizationsCommand,
  keys: () => (module.require('./commands/keys.command') as typeof import('./commands/keys.command')).keysCommand,
  'industry-events': () =>
    (module.require('./commands/industry-events.command') as typeof import('./commands/industry-events.command'))
      .industryEventsCommand,
  import: () =>
    (module.require('./commands/import.command') as typeof import('./commands/import.command')).importCommand,
  imports: () =>
    (module.require('./commands/imports.command') as typeof import('./commands/imports.command')).importsCommand,
  export: () =>
    (module.require('./commands/export.command') as typeof import('./commands/export.command')).exportCommand,
  changes: () =>
    (module.require('./commands/changes.command') as typeof import('./commands/changes.command')).changesCommand,
  seed: () => (module.require('./commands/seed.command') as typeof import('./commands/seed.command')).seedCommand,
  sandbox: () =>
    (module.require('./commands/sandbox.command') as typeof import('./commands/sandbox.command')).sandboxCommand,
  webhooks: () =>
    (module.require('./commands/webhooks.command') as typeof import('./commands/webhooks.command')).webhooksCommand,
  persons: () =>
    (module.require('./commands/persons.command') as typeof import('./commands/persons.command')).personsCommand,
  audit: () => (module.require('./commands/audit.command') as typeof import('./commands/audit.command')).auditCommand,
  backup: () =>
    (module.require('./commands/backup.command') as typeof import('./commands/backup.command')).backupCommand,
  restore: () =>
    (module.require('./commands/restore.command') as typeof import('./commands/restore.command')).restoreCommand,
  status: () =>
    (module.require('./commands/status.command') as typeof import('./commands/status.command')).statusCommand,
  check: () => (module.require('./commands/check.command') as typeof import('./commands/check.command')).checkCommand,
  config: () =>
    (module.require('./commands/config.command') as typeof import('./commands/config.command')).configCommand,
  openapi: () =>
    (module.require('./commands/openapi.command') as typeof import('./commands/openapi.command')).openapiCommand,
  migrate: () =>
    (module.require('./commands/migrate.command') as typeof import('./commands/migrate.command')).migrateCommand,
};

/**
 * Builds the command line. It throws CommanderError instead of ending the process.
 * @param extension what a project of its own adds
 * @param serve starts the server, for the command `start`
 * @param args the arguments of the process: only the command that they name is loaded. All are without them
 */
export async function operatorProgram(
  extension: Extension = {},
  serve?: () => Promise<void>,
  args?: string[],
): Promise<Command> {
  const program = new Program(COMMAND_NAME)
    .description(DESCRIPTION)
    .usage('[command] [options]')
    .version(version, '--version', 'print the version')
    .option('--json', 'print the result as one JSON value, with the names that the text has')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', NOTES);
  const names = Object.keys(COMMANDS) as CommandName[];
  const named = args?.find((arg) => arg !== 'help' && !arg.startsWith('-'));
  const loaded = args ? names.filter((name) => name === named) : names;
  const addLoaded = loaded.length > 0 ? await commandLoader(program, extension, serve) : undefined;
  for (const name of names) {
    if (loaded.includes(name)) addLoaded?.(COMMANDS[name]());
    else program.command(name).summary(SUMMARIES[name]);
  }
  return program;
}

/** What adds commands to the program, with all that they share. */
async function commandLoader(
  program: Program,
  extension: Extension,
  serve?: () => Promise<void>,
): Promise<(addCommand: AddCommand) => void> {
  const { loadSession } = module.require('./load-session') as typeof import('./load-session');
  const { session, csv } = await loadSession(extension, serve);
  program.hook('preAction', (_, action) => {
    const parent = action.parent === program ? '' : `${action.parent?.name()} `;
    session.command = `${parent}${action.name()}`;
    session.json = Boolean(program.opts().json);
  });
  return (addCommand) => addCommand(program, session, csv);
}
