import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'pg';
import { findNativePackage, type NativePackage, prepareBinaries } from '../../src/embedded-postgres/binaries';
import { complaintIn, EmbeddedPostgresError, explain } from '../../src/embedded-postgres/embedded-postgres-error';
import { EmbeddedFixtures, killPostmaster, postmasterOf, query, until } from '../support/embedded-fixtures';

const onlyAsRoot = process.getuid?.() === 0 ? it : it.skip;

/** The tests use the cluster that the first one makes: making one takes seconds. */
describe('embedded PostgreSQL', () => {
  const fixtures = new EmbeddedFixtures();
  const dataDir = fixtures.dataDir();
  const cluster = join(dataDir, 'postgresql');
  const log = join(cluster, 'server.log');

  afterAll(() => fixtures.clean());

  describe('shared by several processes', () => {
    it('makes one database when two start on nothing at once; the last to leave stops it', async () => {
      const [one, two] = await Promise.all([fixtures.member(dataDir), fixtures.member(dataDir)]);
      expect(one.url).toBe(two.url);
      await query(one.url, 'create table note as select 1 as n');
      await one.stop();
      expect(await query(two.url, 'select n from note')).toEqual([{ n: 1 }]);
      await two.stop();
      expect(postmasterOf(cluster)).toBeUndefined();
      expect(readdirSync(dataDir)).toEqual(['postgresql']);
    });
  });

  describe('while it runs', () => {
    let url: string;
    beforeAll(async () => {
      writeFileSync(log, Buffer.alloc(5_000_001));
      ({ url } = await fixtures.start({ dataDir }));
    });
    afterAll(() => fixtures.stop());

    it('keeps rows out of its log, and begins it again above 5 MB', async () => {
      expect(statSync(log).size).toBeLessThan(100_000);
      await query(url, 'create table person (name text primary key)');
      await query(url, `insert into person values ('Ada Lovelace')`);
      await expect(query(url, `insert into person values ('Ada Lovelace')`)).rejects.toThrow('duplicate key');
      await expect(query(url, `select 'Ada Lovelace'::int`)).rejects.toThrow('invalid input');
      expect(readFileSync(log, 'utf8')).toContain('ready to accept connections');
      expect(readFileSync(log, 'utf8')).not.toContain('Ada');
    });

    it('refuses a wrong password, and listens on no address but 127.0.0.1', async () => {
      const wrong = new URL(url);
      wrong.password = 'wrong';
      await expect(query(wrong.href, 'select 1')).rejects.toThrow('password authentication failed');
      const addresses = `select current_setting('listen_addresses') || current_setting('unix_socket_directories') as all`;
      expect(await query(url, addresses)).toEqual([{ all: '127.0.0.1' }]);
      expect(statSync(join(cluster, 'lanyard.password')).mode & 0o777).toBe(0o600);
      expect(statSync(cluster).mode & 0o777).toBe(0o700);
    });
  });

  describe('after kill -9', () => {
    beforeEach(() => fixtures.said.splice(0));
    afterEach(() => fixtures.stop());

    it('of the process, is joined by the next one, which stops it in the end', async () => {
      const member = await fixtures.member(dataDir);
      const survivor = postmasterOf(cluster);
      await member.kill();
      const next = await fixtures.start({ dataDir });
      expect(next.url).toBe(member.url);
      expect(postmasterOf(cluster)).toBe(survivor);
      await next.stop();
      expect(postmasterOf(cluster)).toBeUndefined();
    });

    it('of the process and PostgreSQL, starts again with every acknowledged row', async () => {
      const member = await fixtures.member(dataDir);
      await query(member.url, 'update note set n = 2');
      await member.kill();
      await killPostmaster(cluster);
      const next = await fixtures.start({ dataDir });
      expect(await query(next.url, 'select n from note')).toEqual([{ n: 2 }]);
    });

    it('of PostgreSQL, is started again for all its processes, on the same port, and pools reconnect', async () => {
      const one = await fixtures.start({ dataDir });
      const two = await fixtures.start({ dataDir });
      const pool = new Pool({ connectionString: two.url });
      pool.on('error', () => undefined);
      await pool.query('select 1');
      await killPostmaster(cluster);
      await until(() => fixtures.said.filter((line) => line === 'PostgreSQL is back').length === 2);
      await one.stop();
      expect((await pool.query('select n from note')).rowCount).toBe(1);
      await pool.end();
    });
  });

  describe('refuses in one line', () => {
    it('data of another major version', async () => {
      const other = fixtures.dataDir();
      mkdirSync(join(other, 'postgresql'), { recursive: true });
      writeFileSync(join(other, 'postgresql', 'PG_VERSION'), '17\n');
      const line = /holds data of PostgreSQL 17, but this Lanyard brings PostgreSQL 18.*LANYARD_DATA_DIR/;
      await refused({ dataDir: other }, line);
    });

    it('a full disk, and says what to do', () => {
      const advice = 'free space on it, or set LANYARD_DATA_DIR to a directory on another one';
      const error = Object.assign(new Error('ENOSPC: no space left on device, write'), {
        code: 'ENOSPC',
        syscall: 'write',
      });
      expect((explain(error, '/data') as Error).message).toBe(
        `The embedded PostgreSQL cannot use /data: the disk is full; ${advice}`,
      );
      const output = '2026-01-01 [7] FATAL:  could not write lock file: No space left on device\nchild exited\n';
      expect(complaintIn(output)).toBe(
        `could not write lock file: No space left on device; the disk is full: ${advice}`,
      );
    });

    async function refused(options: Parameters<EmbeddedFixtures['start']>[0], line: RegExp): Promise<void> {
      const error: unknown = await fixtures.start(options).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(EmbeddedPostgresError);
      expect((error as Error).message).toMatch(line);
      expect((error as Error).message).not.toContain('\n');
    }
  });

  it('links its libraries when npm did not run the install script', () => {
    const native = packageWithoutLinks();
    const programs = prepareBinaries(native, undefined, fixtures.folder());
    expect(programs.startsWith(native.root)).toBe(true);
    expect(execFileSync(join(programs, 'initdb'), ['--version'], { encoding: 'utf8' })).toContain('18.');
  });

  describe('run by root below a directory of mode 0700', () => {
    onlyAsRoot('(only as root) moves the default data directory, says so, and finds it again', async () => {
      const { closed, ...options } = below0700();
      const first = await fixtures.start({ ...options, explicit: false });
      fixtures.watched(first.dataDir);
      expect(first.dataDir.startsWith(`${options.systemDir}/project-`)).toBe(true);
      expect(fixtures.said).toContainEqual(expect.stringContaining(`The data is in ${first.dataDir}`));
      await first.stop();
      chmodSync(closed, 0o755);
      const second = await fixtures.start({ ...options, explicit: false });
      expect(second.dataDir).toBe(first.dataDir);
      await second.stop();
    });

    onlyAsRoot('(only as root) refuses a directory that the operator named', async () => {
      const { dataDir: named } = below0700();
      const start = fixtures.start({ dataDir: named, explicit: true });
      await expect(start).rejects.toThrow(new RegExp(`cannot reach ${named}.*LANYARD_DATA_DIR`));
    });

    function below0700() {
      const closed = fixtures.folder();
      const systemDir = fixtures.folder();
      chmodSync(systemDir, 0o755);
      return { closed, dataDir: join(closed, 'project', '.data'), systemDir };
    }
  });

  function packageWithoutLinks(): NativePackage {
    const original = findNativePackage();
    const root = join(fixtures.folder(), 'package');
    cpSync(original.root, root, { recursive: true, verbatimSymlinks: true });
    const list = JSON.parse(readFileSync(join(root, 'native', 'pg-symlinks.json'), 'utf8')) as { target: string }[];
    for (const { target } of list) rmSync(join(root, target), { force: true });
    return { ...original, root };
  }
});
