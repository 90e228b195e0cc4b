import type { Command } from 'commander';
import { addCommand } from '../arguments';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';

/** The command `start`. Alone it does not come here: src/start/run.ts starts the server without a command line. */
export function startCommand(program: Command, session: Session): void {
  addCommand(program, 'start', {
    summary: SUMMARIES.start,
    notes: 'Settings come from environment variables; "config" shows them.',
    example: 'start',
  }).action(() => session.serve?.());
}
