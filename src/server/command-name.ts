import { existsSync, readFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';

const BIN = 'lanyard';

/** How the command line was started, for messages: by its name, by npx, by npm, or (in a container) by its file. */
export function commandNameFor(script: string, environment: NodeJS.ProcessEnv): string {
  if (basename(script) !== BIN) {
    return existsSync('scripts/build.mjs') ? 'npm run --silent operator --' : 'node dist/src/operator/main.js';
  }
  if (environment.npm_lifecycle_event === 'npx') return `npx ${npxPackage(script)}`;
  const isFound = environment.PATH?.split(delimiter).includes(dirname(script)) ?? true;
  return isFound ? BIN : script; // a package that is installed in a folder
}

/** npx notes the package that it was given, a file perhaps, in the folder that it installs it in. */
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
