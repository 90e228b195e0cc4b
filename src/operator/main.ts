import 'reflect-metadata';
import { operatorProgram } from './commands';
import { reportOf } from './report';
import { say, styled } from './terminal';

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
