// node run-typescript.mjs SCRIPT.ts …: runs a TypeScript program in a process of its own, compiled
// as jest compiles it. What was compiled is kept, for suites start such programs a hundred times.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const configFile = fileURLToPath(new URL('../.swcrc', import.meta.url));
const cache = fileURLToPath(new URL('../node_modules/.cache/lanyard-typescript', import.meta.url));
const compiler = readFileSync(require.resolve('@swc/core/package.json'), 'utf8') + readFileSync(configFile, 'utf8');

/** The program of a file, by its name and text; another process may write the same one at the same time. */
function compiled(filename) {
  const source = readFileSync(filename, 'utf8');
  const key = createHash('sha256').update(compiler).update(filename).update(source).digest('hex');
  const file = join(cache, `${key}.js`);
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const { code } = require('@swc/core').transformSync(source, { filename, configFile });
    mkdirSync(cache, { recursive: true });
    writeFileSync(`${file}.${process.pid}`, code);
    renameSync(`${file}.${process.pid}`, file);
    return code;
  }
}

Module._extensions['.ts'] = (module, filename) => module._compile(compiled(filename), filename);

// the program finds its arguments where it would without this one
process.argv.splice(1, 1);
require(resolve(process.argv[1]));
