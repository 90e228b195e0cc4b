import { Command } from 'commander';
import { command } from '../arguments';
import { startServer } from '../start-server';

/** `start` */
export function startCommand(program: Command): void {
  command(program, 'start', {
    about: 'Start the server; the same as no command. Settings come from the environment (config shows them).',
    example: 'start',
  }).action(startServer);
}
