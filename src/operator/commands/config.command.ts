import type { Command } from 'commander';
import { effectiveSettings, unknownSettings } from '../../config';
import { addCommand } from '../arguments';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';
import { printStatus } from '../terminal/terminal';

/** The command `config`. */
export function configCommand(program: Command, session: Session): void {
  addCommand(program, 'config', {
    summary: SUMMARIES.config,
    example: 'config',
  }).action(async () => {
    const unknown = unknownSettings();
    if (unknown) printStatus(unknown);
    await session.print(effectiveSettings());
  });
}
