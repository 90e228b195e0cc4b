import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { Command } from 'commander';
import { version } from '../../package.json';
import { backupCommand } from './commands/backup.command';
import { changesCommand } from './commands/changes.command';
import { checkCommand } from './commands/check.command';
import { configCommand } from './commands/config.command';
import { exportCommand } from './commands/export.command';
import { importCommand } from './commands/import.command';
import { industryEventsCommand } from './commands/industry-events.command';
import { keysCommand } from './commands/keys.command';
import { migrateCommand } from './commands/migrate.command';
import { openapiCommand } from './commands/openapi.command';
import { organizationsCommand } from './commands/organizations.command';
import { restoreCommand } from './commands/restore.command';
import { seedCommand } from './commands/seed.command';
import { statusCommand } from './commands/status.command';
import { webhooksCommand } from './commands/webhooks.command';
import { CsvService } from '../csv/csv.service';
import type { Extension } from '../extensions/extension';
import { addCommand } from './arguments';
import { CommandLineModule } from './command-line.module';
import { PROGRAM } from '../server/command-name';
import { Session } from './session';
import { applyStyle, formatUsageError } from './terminal/terminal';

const DESCRIPTION =
  "Lanyard's server, and the command line for its operator: organizations, API keys, data and status.\n\n" +
  "Commands work on the server's database, also while it runs: DATABASE_URL or, without it, the embedded PostgreSQL in " +
  'LANYARD_DATA_DIR (.data).';

const NOTES = `
Example, from nothing to a key:
  $ ${PROGRAM} organizations create --name "Cobalt Systems"
  $ ${PROGRAM} keys issue --organization 1 --label crm-sync

Results go to standard output, messages and progress to standard error.
NO_COLOR=1 turns colours off.
Exit status: 0 done, 1 refused (with one line of reason), 2 wrong usage; 128
plus the signal's number when interrupted (130 by Ctrl-C), 141 when standard
output was closed before the result was written.`;

/** The whole command line. It throws CommanderError instead of ending the process. */
export async function operatorProgram(extension: Extension = {}): Promise<Command> {
  const session = new Session(extension);
  const root = CommandLineModule.with(session.contexts);
  const context = await NestFactory.createApplicationContext(root, { abortOnError: false });
  const csv = context.get(CsvService);
  const program = new Command(PROGRAM)
    .description(DESCRIPTION)
    .usage('[command] [options]')
    .version(version, '--version', 'print the version')
    .option('--json', 'print the result as one JSON value')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      outputError: (text, write) => write(`${applyStyle('red', formatUsageError(text), process.stderr)}\n`),
    })
    .addHelpText('after', NOTES);
  // `start` alone does not come here: src/run.ts starts the server without a command line.
  addCommand(program, 'start', {
    summary: 'Start the server; the same as no command. Settings come from the environment (config shows them).',
    example: 'start',
  }).action(() => (module.require('../serve') as typeof import('../serve')).serve(extension));
  organizationsCommand(program, session);
  keysCommand(program, session);
  industryEventsCommand(program, session);
  importCommand(program, session, csv);
  exportCommand(program, session, csv);
  changesCommand(program, session);
  seedCommand(program, session, csv);
  webhooksCommand(program, session);
  backupCommand(program, session);
  restoreCommand(program, session);
  statusCommand(program, session);
  checkCommand(program, session);
  configCommand(program);
  openapiCommand(program, session);
  migrateCommand(program, session);
  return program;
}
