// npm run bench NAME, npm run prove NAME: builds what changed and runs a program of that folder of test/. --help lists them, or
// says what the named one does.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const [folder, name, ...args] = process.argv.slice(2);
process.on('SIGINT', () => undefined); // the program takes it, and removes what it made
const node = (...command) => {
  const { status } = spawnSync(process.execPath, command, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
};

const files = ['.mjs', '.ts'].map((extension) => join(here('../test'), folder, `${name}${extension}`));
const file = files.find(existsSync);
if (file && !args.includes('--help')) {
  node(here('build.mjs'), '--if-needed');
  node(...(extname(file) === '.ts' ? [here('run-typescript.mjs')] : []), file, ...args);
} else {
  const table = readFileSync(join(here('../test'), folder, 'README.md'), 'utf8').matchAll(
    /^\| `([^`]+)` \| (.*) \|$/gm,
  );
  console.log(`Usage: npm run ${folder} NAME -- OPTIONS\n`);
  const rows = [...table].filter(([, command]) => !file || command.split(' ')[3] === name);
  for (const [, command, what] of rows) console.log(`${command}\n    ${what.replace(/`|\[|\]\([^)]*\)/g, '')}`);
  process.exitCode = file || name === undefined || name === '--help' ? 0 : 1;
}
