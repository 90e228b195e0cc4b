import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions, refuse } from '../../scripts/services.mjs';
import { version } from '../../package.json';
import { seconds } from './support/figures';

/** Packs the package, and installs and builds the example extension with each package manager, in a folder of its own. */

const ROOT = join(__dirname, '../..');
const EXAMPLE = join(ROOT, 'test/extension');

const IS_NODE_20 = process.versions.node.startsWith('20.');

interface PackageManager {
  /** The package that has the program. */
  program: string;
  install: string[];
  /** Files of its settings, as docs/extending.md says. */
  settings?: Record<string, string>;
}

const MANAGERS: Record<string, PackageManager> = {
  npm: { program: 'npm@11', install: ['npm', 'install'] },
  pnpm: {
    program: 'pnpm@10',
    install: ['pnpm', 'install', '--no-frozen-lockfile'],
    settings: { 'pnpm-workspace.yaml': 'nodeLinker: hoisted\n' },
  },
  yarn: { program: 'yarn@1', install: ['yarn', 'install', ...(IS_NODE_20 ? ['--ignore-engines'] : [])] },
};

const options = readOptions({ only: { type: 'string', default: Object.keys(MANAGERS).join() } }) as { only: string };

/** @returns what a program printed; it ends the run if the program fails */
function run(folder: string, program: string, args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}:\n${stdout}${stderr}`);
  return stdout;
}

/** Nest asks for a version of file-type that Node.js 20 cannot run. Each package manager has a name of its own for this. */
function writeProject(folder: string, settings: Record<string, string> = {}): void {
  cpSync(EXAMPLE, folder, { recursive: true });
  const file = join(folder, 'package.json');
  const overrides = { 'file-type': '21.3.4' };
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, JSON.stringify({ ...manifest, overrides, resolutions: overrides, pnpm: { overrides } }, null, 2));
  for (const [name, text] of Object.entries(settings)) writeFileSync(join(folder, name), text);
}

function prove(name: string, tarballs: string): boolean {
  const { program, install, settings } =
    MANAGERS[name] ?? refuse(`--only ${Object.keys(MANAGERS).join()}, not ${name}`);
  const begun = performance.now();
  const folder = mkdtempSync(join(tmpdir(), `lanyard-${name}-`));
  try {
    writeProject(folder, settings);
    cpSync(join(tarballs, `lanyard-${version}.tgz`), join(folder, `lanyard-${version}.tgz`));
    run(folder, 'npm', ['exec', '--yes', `--package=${program}`, '--', ...install]);
    run(folder, process.execPath, ['node_modules/typescript/bin/tsc']);
    run(folder, process.execPath, ['node_modules/typescript/bin/tsc', '--project', 'test']);
    // Loads every module, its own and Lanyard's.
    run(folder, process.execPath, ['dist/main.js', 'openapi']);
    process.stdout.write(`kept: ${name} installs and builds in ${seconds(performance.now() - begun)}\n`);
    return true;
  } catch (error) {
    process.stdout.write(`BROKEN: ${name}: ${(error as Error).message}\n`);
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const tarballs = mkdtempSync(join(tmpdir(), 'lanyard-tarball-'));
try {
  run(ROOT, 'npm', ['pack', '--ignore-scripts', '--pack-destination', tarballs]);
  const kept = options.only.split(',').map((name) => prove(name, tarballs));
  process.exitCode = kept.every(Boolean) ? 0 : 1;
} finally {
  rmSync(tarballs, { recursive: true, force: true });
}
