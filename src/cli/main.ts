import 'reflect-metadata';
import { operatorProgram } from './commands';
import { reportOf } from './terminal/report';
import { say, styled } from './terminal/terminal';

operatorProgram()
  .parseAsync()
  .then(
    () => process.exit(0),
    (error: unknown) => {
      const { message, status } = reportOf(error);
      if (message) say(styled('red', message, process.stderr));
      process.exit(status);
    },
  );
