import { Command, type ParseOptions } from 'commander';
import { applyStyle, UsageError } from './terminal/terminal';

/** The root of the command line. An error about the use of a command names the help of that command. */
export class Program extends Command {
  override async parseAsync(args?: readonly string[], options?: ParseOptions): Promise<this> {
    try {
      return await super.parseAsync(args, options);
    } catch (error) {
      if (error instanceof UsageError) error.message = withHelpHint(findCommand(this, this.args), error.message);
      throw error;
    }
  }
}

/** Prints Commander's own errors in one line and in red, with the command whose help to read. */
export function configureUsageErrors(command: Command): Command {
  return command.configureOutput({
    outputError: (text, write) => {
      const lines = text.split('\n').map((line) => line.trim());
      write(`${applyStyle('red', withHelpHint(command, lines.filter(Boolean).join(' ')), process.stderr)}\n`);
    },
  });
}

function withHelpHint(command: Command, message: string): string {
  const end = message.endsWith('.') ? '' : '.';
  return `${message}${end} See "${fullName(command)} --help".`;
}

/** The name with those of the parent commands, such as `lanyard keys issue`. */
const fullName = (command: Command): string =>
  command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();

/** The command that the first arguments name. */
function findCommand(command: Command, [name, ...args]: string[]): Command {
  const subcommand = command.commands.find((each) => each.name() === name);
  return subcommand ? findCommand(subcommand, args) : command;
}
