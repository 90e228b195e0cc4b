import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { ConfigError } from '../config';
import type { Extension } from '../extensions/extension';
import { requireSingleInstances } from '../extensions/single-instance';
import { hasHeapLimit, respawnWithHeapLimit } from '../http/server/heap-limit';

/** Otherwise the first file, process or worker that it may not open ends it, at any time. */
const PERMISSION_MODEL_MESSAGE =
  'Lanyard cannot run under the permission model of Node.js. Start it without --permission and --experimental-permission.';

/**
 * Runs Lanyard by the arguments of the process: the server without arguments or with `start`, and any command of the
 * operator. The process ends with it.
 * @param extension what a project of its own adds; its `main.ts` has nothing else to call
 */
export async function run(extension?: Extension): Promise<void> {
  if (process.permission as unknown) exitWith(PERMISSION_MODEL_MESSAGE);
  keepCompiledModules();
  if (extension) endUnlessSingleInstances();
  // Either half is loaded only when it runs: a server needs no command line, and a process that waits for a server neither.
  const serve = (): Promise<never> =>
    (module.require('./serve') as typeof import('./serve')).serve(extension, hasJsonFlag());
  if (!startsServer())
    await (module.require('../operator/run') as typeof import('../operator/run')).runCommand(extension, serve);
  else if (extension || hasHeapLimit()) await serve();
  else await respawnWithHeapLimit();
}

/**
 * Has Node.js keep what it compiles beside the build, which the next start then loads in less time. Node.js 20 cannot do this,
 * and where the folder cannot be written, nothing is kept.
 */
function keepCompiledModules(): void {
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => unknown };
  if (__filename.endsWith('.js')) enableCompileCache?.(join(__dirname, '../../.compiled'));
}

/** Before anything of Nest fails for a reason that it does not know. */
function endUnlessSingleInstances(): void {
  try {
    requireSingleInstances(process.argv[1] ?? '');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    exitWith(error.message);
  }
}

function exitWith(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

const hasJsonFlag = (): boolean => process.argv.includes('--json');

function startsServer(): boolean {
  const args = process.argv.slice(2).join(' ');
  if (hasJsonFlag()) return args === 'start --json' || args === '--json start';
  // `npm run operator` is the command line alone.
  return args === '' ? process.env.npm_lifecycle_event !== 'operator' : args === 'start';
}
