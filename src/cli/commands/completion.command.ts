import { Argument, Command } from 'commander';
import { command, GlobalOptions } from '../arguments';
import { completionScript, Shell, SHELLS } from '../terminal/completion';
import { answer, UsageError } from '../terminal/terminal';

const SETUP = `
A shell completes commands by their names, so give this one a name first. In ~/.bashrc, or in ~/.zshrc after compinit
and with zsh in place of bash:
  operator() { node ${process.argv[1]} "$@"; }
  source <(operator completion bash)
With fish, once:
  operator completion fish > ~/.config/fish/completions/operator.fish`;

/** `completion SHELL` */
export function completionCommand(program: Command): void {
  command(program, 'completion', {
    about: 'Print a script by which a shell completes the commands and options of this one.',
    result: 'the script as a string',
    examples: ['completion bash', 'completion fish --name lanyard'],
  })
    .addArgument(new Argument('<SHELL>', 'whose script').choices(SHELLS))
    .option('--name <NAME>', 'the name by which this program is called', programName, 'operator')
    .addHelpText('after', SETUP)
    .action(async (shell: Shell, _, self: Command) => {
      const { json, name } = self.optsWithGlobals<GlobalOptions & { name: string }>();
      const script = completionScript(shell, program, name);
      await answer(json, script, () => script.trimEnd());
    });
}

function programName(value: string): string {
  if (/^[A-Za-z_][\w.-]*$/.test(value)) return value;
  throw new UsageError('--name must be the name of a command: letters, digits, and . _ -');
}
