import { Command, type ErrorOptions, type ParseOptions } from 'commander';
import { escapeForTerminal, UsageError } from './terminal/terminal';

/** The command line, and each command of it. */
export class Program extends Command {
  override createCommand(name?: string): Program {
    return new Program(name);
  }

  /** Reports our errors about the use of a command as Commander does its own. */
  override async parseAsync(args?: readonly string[], options?: ParseOptions): Promise<this> {
    try {
      return await super.parseAsync(args, options);
    } catch (error) {
      if (error instanceof UsageError) findCommand(this, this.args).error(`error: ${error.message}`);
      throw error;
    }
  }

  /** Prints an error about the use of the command in one line, with the command whose help to read. */
  override error(message: string, options?: ErrorOptions): never {
    const text = message
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
      .join(' ');
    const sentence = /[.?]$/.test(text) ? text : `${text}.`;
    return super.error(`${escapeForTerminal(sentence)} See "${fullName(this)} --help".`, options);
  }
}

/** The name with those of the parent commands, such as `lanyard keys issue`. */
const fullName = (command: Command): string =>
  command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();

/** The command that the first arguments name. */
function findCommand(command: Command, [name, ...args]: string[]): Command {
  const subcommand = command.commands.find((each) => each.name() === name);
  return subcommand ? findCommand(subcommand, args) : command;
}
