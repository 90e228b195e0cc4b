import { spawn } from 'node:child_process';
import { setFlagsFromString } from 'node:v8';
import { signalExitStatus, STOP_SIGNALS } from './stop-signal';

/** The same limit as in package.json's `start` and in the Dockerfile; docs/performance.md has the figures. */
const HEAP_LIMIT = '--max-old-space-size=768';

/** Whether the heap size of this process was set when it was started. */
export const hasHeapLimit = (): boolean =>
  [...process.execArgv, process.env.NODE_OPTIONS ?? ''].some((option) => /--max[-_]old[-_]space[-_]size/.test(option));

/** Runs this program again in a child process, because V8 sizes its heap only at the start, and exits as the child does. */
export function respawnWithHeapLimit(): Promise<never> {
  const args = [...process.execArgv, HEAP_LIMIT, ...process.argv.slice(1)];
  const server = spawn(process.execPath, args, { stdio: 'inherit' });
  for (const signal of STOP_SIGNALS) process.on(signal, () => server.kill(signal));
  server.on('exit', (status, signal) => process.exit(status ?? signalExitStatus(signal as NodeJS.Signals)));
  return new Promise<never>(() => undefined); // the exit listener above ends the process
}

/**
 * Makes V8 create every object in the young generation. Otherwise optimized code creates objects directly in the old
 * generation if those of the same line survived during the start, and each of them keeps its request until the next full
 * collection (docs/decisions/0021).
 */
export const disablePretenuring = (): void => setFlagsFromString('--no-allocation-site-pretenuring');
