import { readFileSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative } from 'node:path';

const BIN = 'lanyard';

const NPM_SCRIPT = 'npm run --silent operator --';

/** The built programs: the command line, and the server, beside which it stands. */
const COMMAND_LINE_FILE = /[/\\]operator[/\\]main\.js$/;
const SERVER_FILE = /[/\\]src[/\\]main\.js$/;

/**
 * How the command line was started, for messages: by its name, by npx, by npm, or by its file. It works from the folder in
 * which it was started.
 */
export function commandNameFor(script: string, environment: NodeJS.ProcessEnv, folder = process.cwd()): string {
  if (basename(script) !== BIN) return environment.npm_lifecycle_event ? NPM_SCRIPT : fileCommand(script, folder);
  if (environment.npm_lifecycle_event === 'npx') return `npx ${npxPackage(script)}`;
  const isFound = environment.PATH?.split(delimiter).includes(dirname(script)) ?? true;
  return isFound ? BIN : script; // a package that is installed in a folder
}

/** A checkout that is not built has only the script of npm. */
function fileCommand(script: string, folder: string): string {
  const file = script.replace(SERVER_FILE, join('/src', 'operator', 'main.js'));
  return COMMAND_LINE_FILE.test(file) ? `node ${relative(folder, file)}` : NPM_SCRIPT;
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

/** The server is a process of its own and gets the name from the command that started it. */
export const COMMAND_NAME = process.env.LANYARD_PROGRAM ?? commandNameFor(process.argv[1] ?? '', process.env);
