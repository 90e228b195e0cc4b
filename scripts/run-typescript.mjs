// node run-typescript.mjs SCRIPT.ts …: runs a TypeScript program in a process of its own, compiled
// as jest compiles it.
import { readFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

const configFile = fileURLToPath(new URL('../.swcrc', import.meta.url));

Module._extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), { filename, configFile });
  module._compile(code, filename);
};

// the program finds its arguments where it would without this one
process.argv.splice(1, 1);
createRequire(import.meta.url)(resolve(process.argv[1]));
