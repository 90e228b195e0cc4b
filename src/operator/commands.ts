import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { Command } from 'commander';
import { version } from '../../package.json';
import { auditCommand } from './commands/audit.command';
import { backupCommand } from './commands/backup.command';
import { changesCommand } from './commands/changes.command';
import { checkCommand } from './commands/check.command';
import { configCommand } from './commands/config.command';
import { exportCommand } from './commands/export.command';
import { importCommand } from './commands/import.command';
import { importsCommand } from './commands/imports.command';
import { industryEventsCommand } from './commands/industry-events.command';
import { keysCommand } from './commands/keys.command';
import { migrateCommand } from './commands/migrate.command';
import { openapiCommand } from './commands/openapi.command';
import { organizationsCommand } from './commands/organizations.command';
import { personsCommand } from './commands/persons.command';
import { restoreCommand } from './commands/restore.command';
import { sandboxCommand } from './commands/sandbox.command';
import { seedCommand } from './commands/seed.command';
import { statusCommand } from './commands/status.command';
import { webhooksCommand } from './commands/webhooks.command';
import { CsvService } from '../exchange/csv/csv.service';
import type { Extension } from '../extensions/extension';
import { addCommand } from './arguments';
import { CommandLineModule } from './command-line.module';
import { COMMAND_NAME } from './command-name';
import { Program } from './program';
import { Session } from './session';

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

/** In the order of the help. */
const COMMANDS = [
  organizationsCommand,
  keysCommand,
  industryEventsCommand,
  importCommand,
  importsCommand,
  exportCommand,
  changesCommand,
  seedCommand,
  sandboxCommand,
  webhooksCommand,
  personsCommand,
  auditCommand,
  backupCommand,
  restoreCommand,
  statusCommand,
  checkCommand,
  configCommand,
  openapiCommand,
  migrateCommand,
];

/**
 * Builds the command line. It throws CommanderError instead of ending the process.
 * @param serve starts the server, for the command `start`
 */
export async function operatorProgram(extension: Extension = {}, serve?: () => Promise<void>): Promise<Command> {
  const session = new Session(extension);
  const root = CommandLineModule.with(session.contexts);
  const context = await NestFactory.createApplicationContext(root, { abortOnError: false });
  const csv = context.get(CsvService);
  const program = new Program(COMMAND_NAME)
    .description(DESCRIPTION)
    .usage('[command] [options]')
    .version(version, '--version', 'print the version')
    .option('--json', 'print the result as one JSON value, with the names that the text has')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', NOTES);
  program.hook('preAction', (_, action) => {
    const parent = action.parent === program ? '' : `${action.parent?.name()} `;
    session.command = `${parent}${action.name()}`;
    session.json = Boolean(program.opts().json);
  });
  // `start` alone does not come here: src/start/run.ts starts the server without a command line.
  addCommand(program, 'start', {
    summary: 'Start the server. This is the default without a command.',
    notes: 'Settings come from environment variables; "config" shows them.',
    example: 'start',
  }).action(() => serve?.());
  for (const addTo of COMMANDS) addTo(program, session, csv);
  return program;
}
