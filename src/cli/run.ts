import { operatorProgram } from './commands';
import { reportOf } from './terminal/report';
import { say, styled } from './terminal/terminal';

/** Runs the command of the process's arguments and ends the process. */
export async function run(): Promise<void> {
  try {
    await operatorProgram().parseAsync();
    process.exit(0);
  } catch (error) {
    const { message, status } = reportOf(error);
    if (message) say(styled('red', message, process.stderr));
    process.exit(status);
  }
}
