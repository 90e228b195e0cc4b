import { existsSync, readFileSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative } from 'node:path';

const BIN = 'lanyard';

/** How the command line was started, for messages: by its name, by npx, by npm, or (in a container, and as an extension) by its file. */
export function commandNameFor(script: string, environment: NodeJS.ProcessEnv): string {
  if (basename(script) !== BIN) {
    return existsSync('scripts/build.mjs') ? 'npm run --silent operator --' : `node ${relative('', script)}`;
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

export const COMMAND_NAME = commandNameFor(process.argv[1] ?? '', process.env);
