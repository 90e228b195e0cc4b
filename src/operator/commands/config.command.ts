import { Command } from 'commander';
import { effectiveSettings, unknownSettings } from '../../config';
import { addCommand, GlobalOptions } from '../arguments';
import { formatTable } from '../terminal/table';
import { printResult, printStatus } from '../terminal/terminal';

/** The command `config`. */
export function configCommand(program: Command): void {
  addCommand(program, 'config', {
    summary: 'Show the settings in force, without passwords. It connects to nothing.',
    jsonResult: '[{name, value, source}], where value is null if unset and source is environment or default',
    example: 'config',
  }).action((_, self: Command) => show(self.optsWithGlobals()));
}

async function show({ json }: GlobalOptions): Promise<void> {
  const settings = effectiveSettings();
  const unknown = unknownSettings();
  if (unknown) printStatus(unknown);
  await printResult(json, settings, () =>
    formatTable(
      ['setting', 'value', 'source'],
      settings.map(({ name, value, source }) => [name, value, source]),
    ),
  );
}
