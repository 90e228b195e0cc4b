import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { OPERATOR } from '../../../scripts/services.mjs';

/**
 * Runs a command of the operator's on a database.
 * @param input what the command finds on standard input
 * @param killAfterMs when it is killed, if it still runs; 0 for never
 * @throws Error when it fails
 */
export async function runOperator(databaseUrl: string, args: string[], input = '', killAfterMs = 0): Promise<void> {
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  const options = { env, maxBuffer: 64 << 20, timeout: killAfterMs, killSignal: 'SIGKILL' } as const;
  const running = promisify(execFile)(process.execPath, [OPERATOR, ...args], options);
  running.child.stdin?.on('error', () => undefined); // its exit status tells
  running.child.stdin?.end(input);
  await running;
}
