import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** What Node.js runs a TypeScript program of this project with. */
export const typescript = (program: string): string[] =>
  ['scripts/run-typescript.mjs', program].map((file) => join(__dirname, '../..', file));

/** As `npm start` has it; without a limit, the program would start itself again with one. */
const HEAP_LIMIT = '--max-old-space-size=768';

/** The server in a process of its own, on a port that is free. */
export function startProgram(
  settings: NodeJS.ProcessEnv,
  command: string[] = [],
  stdio: StdioOptions = ['ignore', 'pipe', 'pipe'],
): ChildProcess {
  const { DATABASE_URL: _, REDIS_URL: __, ...inherited } = process.env;
  const env = { ...inherited, HOST: '127.0.0.1', PORT: '0', ...settings };
  const args = [HEAP_LIMIT, ...typescript('src/main.ts'), ...command];
  return spawn(process.execPath, args, { env, stdio });
}

/** What a program said up to a line that holds the text. */
export async function waitForOutput(child: ChildProcess, text: string): Promise<string> {
  let said = '';
  for await (const chunk of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    said += String(chunk);
    if (said.includes(text)) break;
  }
  return said;
}

/** @returns the exit status of a program that was sent the signal; null when the signal ended it */
export async function waitForExit(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const exit = once(child, 'exit') as Promise<[number | null]>;
  child.kill(signal);
  return (await exit)[0];
}
