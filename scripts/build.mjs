// Compiles the sources: with --if-needed only when one of them is newer than the last build, so that a second start is a
// quick one, and no command builds under a server that runs from dist/. It does what `nest build` does and reads the same
// nest-cli.json, because the packages behind @nestjs/cli 12 do not support Node.js 20.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const stamp = join(root, 'dist', '.built');
const inputs = ['nest-cli.json', 'ormconfig.ts', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'].map(
  (file) => join(root, file),
);
const src = join(root, 'src');
const sources = readdirSync(src, { recursive: true, withFileTypes: true }).map((entry) =>
  join(entry.parentPath, entry.name),
);
const changed = (file) => statSync(file).mtimeMs;

// The folder changes, too, when a file in it goes.
const isNewest = () =>
  existsSync(stamp) && [...inputs, src, ...sources].every((file) => changed(file) < changed(stamp));

if (!(process.argv.includes('--if-needed') && isNewest())) {
  process.stderr.write('Building …\n');
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'nest-cli.json'), 'utf8'));
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', compilerOptions.tsConfigPath], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  for (const { include, outDir } of compilerOptions.assets) copyAssets(include, outDir);
  if (status === 0) writeFileSync(stamp, '');
  else process.exitCode = 1;
}

/** Copies a file, or the files of a folder with one extension (`folder/*.sql`), to where the compiled sources are. */
function copyAssets(include, outDir) {
  const [folder, name] = [dirname(include), basename(include)];
  const files = name.startsWith('*')
    ? readdirSync(join(src, folder)).filter((file) => file.endsWith(name.slice(1)))
    : [name];
  for (const file of files) cpSync(join(src, folder, file), join(root, outDir, 'src', folder, file));
}
