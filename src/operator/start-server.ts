import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { COMMAND_NAME } from '../server/command-name';

/** The same flags as in package.json's `start` and the Dockerfile; docs/performance.md explains them. */
const V8_FLAGS = ['--max-old-space-size=768'];

/** Runs the server in its own process, because V8 sizes its heap only at the start, and exits with its status. */
export function startServer(): Promise<never> {
  const server = spawn(process.execPath, [...V8_FLAGS, join(__dirname, '../main.js')], {
    env: { ...process.env, LANYARD_PROGRAM: COMMAND_NAME },
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => server.kill(signal));
  server.on('exit', (status, signal) => process.exit(status ?? 128 + constants.signals[signal as NodeJS.Signals]));
  return new Promise<never>(() => undefined); // the handler above ends the process
}
