import { Command } from 'commander';
import { shownSettings, unknownSettings } from '../../config';
import { command, GlobalOptions } from '../arguments';
import { table } from '../terminal/table';
import { answer, say } from '../terminal/terminal';

/** `config` */
export function configCommand(program: Command): void {
  command(program, 'config', {
    about: 'Show the settings in force, without passwords. Connects to nothing.',
    result: '[{name, value, source}]; value is null when unset, source is environment or default',
    example: 'config',
  }).action((_, self: Command) => show(self.optsWithGlobals()));
}

async function show({ json }: GlobalOptions): Promise<void> {
  const settings = shownSettings();
  const unknown = unknownSettings();
  if (unknown) say(unknown);
  await answer(json, settings, () =>
    table(
      ['setting', 'value', 'from'],
      settings.map(({ name, value, source }) => [name, value, source]),
    ),
  );
}
