import type { Command } from 'commander';
import { effectiveSettings, unknownSettings } from '../../config';
import { addCommand } from '../arguments';
import type { Session } from '../session';
import { formatTable } from '../terminal/table';
import { printStatus } from '../terminal/terminal';

/** The command `config`. */
export function configCommand(program: Command, session: Session): void {
  addCommand(program, 'config', {
    summary: 'Show the settings in force, without passwords. It connects to nothing.',
    jsonResult: '[{name, value, source}], where value is null if unset and source is environment or default',
    example: 'config',
  }).action(async () => {
    const settings = effectiveSettings();
    const unknown = unknownSettings();
    if (unknown) printStatus(unknown);
    const rows = settings.map(({ name, value, source }) => [name, value, source]);
    await session.print(settings, () => formatTable(['setting', 'value', 'source'], rows));
  });
}
