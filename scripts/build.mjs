// Compiles the sources: with --if-needed only when one of them is newer than the last build, so that a second start is a
// quick one, and no command builds under a server that runs from dist/.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
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
  rmSync(stamp, { force: true });
  const nest = createRequire(import.meta.url).resolve('@nestjs/cli/bin/nest.js');
  const { status } = spawnSync(process.execPath, [nest, 'build'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status === 0) writeFileSync(stamp, '');
  else process.exitCode = 1;
}
