import { createInterface } from 'node:readline';

/** Asks a person at the terminal. Anything but `y` is no, and so is the end of the input. */
export function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    terminal.on('close', () => resolve(false));
    terminal.question(question, (answer) => {
      resolve(/^y(?:es)?$/i.test(answer.trim()));
      terminal.close();
    });
  });
}
