import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readConfig } from '../../src/config';
import { EmbeddedPostgresError } from '../../src/data/embedded-postgres/embedded-postgres-error';
import { accountFor, Programs } from '../../src/data/embedded-postgres/programs';
import { type DataDirOptions, prepareDataDir, reachablePrograms } from '../../src/data/embedded-postgres/reach';
import { query } from '../../src/testing/test-database';
import { EmbeddedFixtures } from '../support/servers/embedded-fixtures';

const isRoot = process.getuid?.() === 0;

it('the default data directory differs from one that was given, even if it is the same', () => {
  expect(readConfig({}).isDefaultDataDir).toBe(true);
  expect(readConfig({ LANYARD_DATA_DIR: '.data' })).toMatchObject({
    isDefaultDataDir: false,
    dataDir: readConfig({}).dataDir,
  });
});

/** Whoever is not root runs PostgreSQL under the same account. */
(isRoot ? describe : describe.skip)('root in a directory that others cannot enter', () => {
  const fixtures = new EmbeddedFixtures();
  const account = accountFor('/nowhere');
  let checkout: string;
  let systemDir: string;
  let said: string[];
  beforeEach(() => {
    checkout = fixtures.folder(); // of mode 0700
    systemDir = join(dirname(fixtures.dataDir()), 'system');
    said = [];
  });
  afterAll(() => fixtures.clean());

  const dataDirOf = (folder: string): string => join(folder, '.data');
  const prepare = (folder: string, options: Partial<DataDirOptions> = {}): string => {
    const log = (line: string) => void said.push(line);
    return prepareDataDir({ dataDir: dataDirOf(folder), isDefaultDir: true, systemDir, log, ...options }, account);
  };
  const errorOf = (work: () => unknown): string => {
    try {
      work();
    } catch (error) {
      expect(error).toBeInstanceOf(EmbeddedPostgresError);
      return (error as Error).message;
    }
    throw new Error('It did not fail.');
  };

  it('gets a database, which the next start finds again', async () => {
    const options = { dataDir: dataDirOf(checkout), isDefaultDir: true, systemDir };
    const first = await fixtures.start(options);
    await query(first.url, 'create table note as select 1 as n');
    await first.stop();
    const target = realpathSync(dataDirOf(checkout));
    expect(dirname(target)).toBe(systemDir);
    expect(fixtures.said).toEqual([
      `${dataDirOf(checkout)} is a link to ${target}, because user ${account?.uid} cannot enter ${checkout}`,
      `Creating a PostgreSQL 18 database in ${target}`,
      `PostgreSQL cannot run as root. It runs as user ${account?.uid}, who owns its data.`,
    ]);
    const next = await fixtures.start(options);
    expect(await query(next.url, 'select n from note')).toEqual([{ n: 1 }]);
    expect(fixtures.said).toHaveLength(3);
  });

  it('has no link where the directory can be entered', () => {
    chmodSync(checkout, 0o755);
    expect(prepare(checkout)).toBe(dataDirOf(checkout));
    expect(lstatSync(dataDirOf(checkout)).isDirectory()).toBe(true);
  });

  it('gets one link and one directory if several processes start at the same time', async () => {
    const start = () => fixtures.member(dataDirOf(checkout), { isDefaultDir: true, systemDir });
    const members = await Promise.all([start(), start(), start()]);
    expect(new Set(members.map(({ url }) => url)).size).toBe(1);
    const made = readdirSync(systemDir).filter((name) => !name.startsWith('programs-'));
    expect(made).toEqual([basename(readlinkSync(dataDirOf(checkout)))]);
    await Promise.all(members.map((member) => member.stop()));
  });

  it('is refused a directory that was given, and leaves none behind', () => {
    expect(errorOf(() => prepare(checkout, { isDefaultDir: false }))).toMatch(
      /cannot access .*\.data\. Run Lanyard as an ordinary user, or make .* \(chmod a\+x\), or set LANYARD_DATA_DIR/,
    );
    expect(readdirSync(checkout)).toEqual([]);
  });

  it('is refused a directory that exists, such as a restored copy, and never gets an empty database', () => {
    mkdirSync(join(dataDirOf(checkout), 'postgresql'), { recursive: true });
    expect(errorOf(() => prepare(checkout))).toContain('cannot access');
    expect(readdirSync(dataDirOf(checkout))).toEqual(['postgresql']);
  });

  it('is refused a link that leads nowhere', () => {
    const target = prepare(checkout);
    rmSync(target, { recursive: true });
    expect(errorOf(() => prepare(checkout))).toBe(
      `${dataDirOf(checkout)} is a link to ${target}, which does not exist. Restore that directory, or remove the link to begin with a new database.`,
    );
  });

  it('never shares the database of another checkout whose link was copied, and keeps that of one that was moved', () => {
    const target = prepare(checkout);
    const copy = join(fixtures.folder(), 'copy');
    cpSync(checkout, copy, { recursive: true, verbatimSymlinks: true });
    expect(readlinkSync(dataDirOf(copy))).toBe(target);
    expect(errorOf(() => prepare(copy))).toContain(`is a copy of the link ${dataDirOf(checkout)}`);
    expect(prepare(checkout)).toBe(target);
    const moved = join(fixtures.folder(), 'moved');
    renameSync(checkout, moved);
    expect(prepare(moved)).toBe(target);
    expect(errorOf(() => prepare(copy))).toContain(`is a copy of the link ${dataDirOf(moved)}`);
  });

  it('keeps the database of a checkout that was moved and is still reached by its old path', () => {
    const target = prepare(checkout);
    const moved = join(fixtures.folder(), 'moved');
    renameSync(checkout, moved);
    symlinkSync(moved, checkout);
    expect(prepare(moved)).toBe(target);
  });

  it('gets a database of its own in each checkout', () => {
    expect(prepare(checkout)).not.toBe(prepare(fixtures.folder()));
  });

  it('uses a link that a person made, whoever else uses its target', () => {
    const target = dirname(fixtures.dataDir());
    symlinkSync(target, dataDirOf(checkout));
    expect(prepare(checkout)).toBe(target);
  });

  it('is refused if another user could change what it puts outside', () => {
    mkdirSync(systemDir);
    chmodSync(systemDir, 0o777);
    expect(errorOf(() => prepare(checkout))).toContain(`${systemDir} does not belong to root alone`);
    expect(readdirSync(checkout)).toEqual([]);
  });

  describe('its programs', () => {
    it('are copied once, for root alone to change and for everybody to run', () => {
      const root = join(checkout, 'package');
      cpSync(new Programs(account).root, root, { recursive: true, verbatimSymlinks: true });
      chmodSync(join(root, 'native', 'bin', 'initdb'), 0o700); // as by root's umask 077
      const installed = new Programs(account, root);
      const programs = reachablePrograms(account, systemDir, installed);
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
      expect(programs.root).toBe(join(systemDir, `programs-${version}`));
      expect(programs.check()).toBe('18');
      const { uid, mode } = statSync(programs.file('initdb'));
      expect({ uid, mode: mode & 0o777 }).toEqual({ uid: 0, mode: 0o755 });
      expect(readdirSync(systemDir)).toEqual([`programs-${version}`]);
      writeFileSync(join(programs.root, 'mark'), '');
      expect(readdirSync(reachablePrograms(account, systemDir, installed).root)).toContain('mark');
    });

    it('stay where the account can run them', () => {
      expect(reachablePrograms(account, systemDir, new Programs(account, reachable())).root).toBe(reachable());
    });
  });

  /** The package in node_modules, which the account may reach or not, or a copy in a directory that it can enter. */
  function reachable(): string {
    const root = join(dirname(systemDir), 'package');
    mkdirSync(join(root, 'native', 'bin'), { recursive: true });
    writeFileSync(join(root, 'native', 'bin', 'postgres'), '', { mode: 0o755 });
    return root;
  }
});
