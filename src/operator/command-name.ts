import { existsSync, readFileSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative } from 'node:path';

const BIN = 'lanyard';

const NPM_SCRIPT = 'npm run --silent operator --';

/** The built program, which is the server and the command line. */
const PROGRAM_FILE = /[/\\]main\.js$/;

/**
 * How the command line was started, for use in messages: by its name, by npx, by npm, or (in a container and in an
 * extension) by its file. The command works in the folder in which it was started.
 */
export function commandNameFor(script: string, environment: NodeJS.ProcessEnv, folder = process.cwd()): string {
  if (basename(script) !== BIN) return fileCommand(script, environment, folder);
  if (environment.npm_lifecycle_event === 'npx') return `npx ${npxPackage(script)}`;
  const isFound = environment.PATH?.split(delimiter).includes(dirname(script)) ?? true;
  return isFound ? BIN : script; // the package is installed in a folder, not globally
}

/** In a checkout, npm runs the command line. Test suites get the same command, because they run no file of it. */
function fileCommand(script: string, environment: NodeJS.ProcessEnv, folder: string): string {
  const isCheckout = existsSync(join(folder, 'scripts/build.mjs'));
  const isCalledByFile = PROGRAM_FILE.test(script) && !environment.npm_lifecycle_event;
  return isCheckout && !isCalledByFile ? NPM_SCRIPT : `node ${relative(folder, script)}`;
}

/** The package or file that npx was called with, which npx records in the folder where it installs the package. */
function npxPackage(script: string): string {
  try {
    const file = join(dirname(script), '../../package.json');
    const { _npx } = JSON.parse(readFileSync(file, 'utf8')) as { _npx?: { packages?: string[] } };
    return _npx?.packages?.[0] ?? BIN;
  } catch {
    return BIN;
  }
}

export const COMMAND_NAME = commandNameFor(process.argv[1] ?? '', process.env);
