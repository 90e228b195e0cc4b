import { Command, type ParseOptions } from 'commander';
import { applyStyle, UsageError } from './terminal/terminal';

/** The root of the command line. It reports our errors about the use of a command as Commander does its own. */
export class Program extends Command {
  override async parseAsync(args?: readonly string[], options?: ParseOptions): Promise<this> {
    try {
      return await super.parseAsync(args, options);
    } catch (error) {
      if (error instanceof UsageError) findCommand(this, this.args).error(`error: ${error.message}`);
      throw error;
    }
  }
}

/** Prints errors about the use of a command in one line and in red, with the command whose help to read. */
export function configureUsageErrors(command: Command): Command {
  return command.configureOutput({
    outputError: (text, write) => {
      const message = text
        .trim()
        .replace(/\s*\n\s*/g, ' ')
        .replace(/\.?$/, '.');
      write(`${applyStyle('red', `${message} See "${fullName(command)} --help".`, process.stderr)}\n`);
    },
  });
}

/** The name with those of the parent commands, such as `lanyard keys issue`. */
const fullName = (command: Command): string =>
  command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();

/** The command that the first arguments name. */
function findCommand(command: Command, [name, ...args]: string[]): Command {
  const subcommand = command.commands.find((each) => each.name() === name);
  return subcommand ? findCommand(subcommand, args) : command;
}
