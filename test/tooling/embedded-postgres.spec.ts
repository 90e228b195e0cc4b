import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'pg';
import { accountFor, spawnAs } from '../../src/embedded-postgres/account';
import { findNativePackage, prepareBinaries, readNativePackage } from '../../src/embedded-postgres/binaries';
import { EmbeddedPostgresError } from '../../src/embedded-postgres/embedded-postgres-error';
import { EmbeddedFixtures, killPostmaster, postmasterOf, query, until } from '../support/embedded-fixtures';

const root = process.getuid?.() === 0;
const onlyAsRoot = root ? it : it.skip;

describe('embedded PostgreSQL', () => {
  let fixtures: EmbeddedFixtures;
  let dataDir: string;
  let cluster: string;

  beforeEach(() => {
    fixtures = new EmbeddedFixtures();
    dataDir = fixtures.dataDir();
    cluster = join(dataDir, 'postgresql');
  });

  afterEach(() => fixtures.clean());

  describe('one process', () => {
    it('keeps rows from one start to the next', async () => {
      const first = await fixtures.start({ dataDir, settings: {} });
      await query(first.url, `create table note as select 'kept' as text`);
      await first.stop();
      expect(postmasterOf(cluster)).toBeUndefined();

      const second = await fixtures.start({ dataDir, settings: {} });
      expect(second.dataDir).toBe(dataDir);
      expect(await query(second.url, 'select text from note')).toEqual([{ text: 'kept' }]);
      expect(fixtures.said).toHaveLength(1);
    });

    it('folds case and accents, with the extension unaccent', async () => {
      const { url } = await fixtures.start({ dataDir });
      await query(url, 'create extension unaccent');
      expect(await query(url, `select unaccent(lower('WROCŁAW É')) as folded`)).toEqual([{ folded: 'wroclaw e' }]);
      expect(await query(url, `select to_tsvector('simple', 'CONFERÊNCIA') @@ 'conferência' as found`)).toEqual([
        { found: true },
      ]);
    });

    it('refuses a wrong password, and listens on no address but 127.0.0.1', async () => {
      const { url } = await fixtures.start({ dataDir });
      const wrong = new URL(url);
      wrong.password = 'wrong';
      await expect(query(wrong.href, 'select 1')).rejects.toThrow('password authentication failed');
      const [listening] = await query(url, `select setting from pg_settings where name = 'listen_addresses'`);
      expect(listening).toEqual({ setting: '127.0.0.1' });
      expect(statSync(join(cluster, 'lanyard.password')).mode & 0o777).toBe(0o600);
      expect(statSync(cluster).mode & 0o777).toBe(0o700);
    });

    it('keeps rows out of its log', async () => {
      const { url } = await fixtures.start({ dataDir });
      await query(url, 'create table person (name text primary key)');
      await query(url, `insert into person values ('Ada Lovelace')`);
      await expect(query(url, `insert into person values ('Ada Lovelace')`)).rejects.toThrow('duplicate key');
      await expect(query(url, `select 'Ada Lovelace'::int`)).rejects.toThrow('invalid input');
      const log = readFileSync(join(dataDir, 'postgresql.log'), 'utf8');
      expect(log).toContain('ready to accept connections');
      expect(log).not.toContain('Ada');
    });

    it('runs PostgreSQL outside the process group of the terminal', async () => {
      if (process.platform !== 'linux') return;
      await fixtures.start({ dataDir });
      const group = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /, '').split(' ')[2];
      expect(group(Number(postmasterOf(cluster)))).not.toBe(group(process.pid));
    });

    it('stops once, however often it is told to', async () => {
      const postgres = await fixtures.start({ dataDir });
      await Promise.all([postgres.stop(), postgres.stop()]);
      await postgres.stop();
      expect(postmasterOf(cluster)).toBeUndefined();
    });
  });

  describe('several processes', () => {
    it('makes one database when two start at the same moment on nothing; the last to leave stops it', async () => {
      const [one, two] = await Promise.all([fixtures.member(dataDir), fixtures.member(dataDir)]);
      expect(one.url).toBe(two.url);
      await query(one.url, 'create table note as select 1 as n');
      await one.stop();
      expect(await query(two.url, 'select n from note')).toEqual([{ n: 1 }]);
      await two.stop();
      expect(postmasterOf(cluster)).toBeUndefined();
      expect(readdirSync(dataDir).sort()).toEqual(['postgresql', 'postgresql.log']);
    });

    it('lets one arrive while another leaves', async () => {
      let leaving = await fixtures.start({ dataDir });
      await query(leaving.url, 'create table note as select 1 as n');
      for (let round = 0; round < 10; round++) {
        const [arrived] = await Promise.all([fixtures.start({ dataDir }), leaving.stop()]);
        expect(await query(arrived.url, 'select n from note')).toEqual([{ n: 1 }]);
        leaving = arrived;
      }
    });

    it('stops PostgreSQL when all leave at the same moment', async () => {
      const all = await Promise.all([1, 2, 3, 4].map(() => fixtures.start({ dataDir })));
      await Promise.all(all.map((one) => one.stop()));
      expect(postmasterOf(cluster)).toBeUndefined();
    });
  });

  describe('after kill -9', () => {
    it('of the Node process, joins the PostgreSQL that went on, and stops it in the end', async () => {
      const member = await fixtures.member(dataDir);
      await query(member.url, 'create table note as select 1 as n');
      await member.kill();
      const survivor = postmasterOf(cluster);
      expect(survivor).toBeDefined();
      const next = await fixtures.start({ dataDir });
      expect(next.url).toBe(member.url);
      expect(postmasterOf(cluster)).toBe(survivor);
      expect(await query(next.url, 'select n from note')).toEqual([{ n: 1 }]);
      await next.stop();
      expect(postmasterOf(cluster)).toBeUndefined();
    });

    it('of both, starts again with every acknowledged row', async () => {
      const member = await fixtures.member(dataDir);
      await query(member.url, 'create table note as select 1 as n');
      await member.kill();
      await killPostmaster(cluster);
      const next = await fixtures.start({ dataDir });
      expect(await query(next.url, 'select n from note')).toEqual([{ n: 1 }]);
    });

    it('of PostgreSQL, starts it again on the same port, and pools reconnect', async () => {
      const postgres = await fixtures.start({ dataDir });
      const pool = new Pool({ connectionString: postgres.url, max: 2 });
      pool.on('error', () => undefined);
      await pool.query('create table note as select 1 as n');
      const before = postmasterOf(cluster);
      await killPostmaster(cluster);
      const answers = () => pool.query<{ n: number }>('select n from note').then(({ rows }) => rows[0]?.n === 1);
      await until(() => answers().catch(() => false));
      expect(postmasterOf(cluster)).not.toBe(before);
      await until(() => fixtures.said.includes('PostgreSQL is back'));
      await pool.end();
      await postgres.stop();
      expect(postmasterOf(cluster)).toBeUndefined();
    });

    it('of PostgreSQL under two processes, both come back to one', async () => {
      const one = await fixtures.start({ dataDir });
      const two = await fixtures.start({ dataDir });
      await killPostmaster(cluster);
      await until(() => fixtures.said.filter((line) => line === 'PostgreSQL is back').length === 2);
      await one.stop();
      expect(await query(two.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    });

    it('of PostgreSQL, stop() ends the attempts to start it', async () => {
      const postgres = await fixtures.start({ dataDir });
      await killPostmaster(cluster);
      await postgres.stop();
      expect(postmasterOf(cluster)).toBeUndefined();
    });

    it('of PostgreSQL whose data was removed, does not go on with an empty database', async () => {
      const postgres = await fixtures.start({ dataDir });
      await killPostmaster(cluster);
      renameSync(cluster, `${cluster}.aside`);
      await until(() => fixtures.said.includes(`The PostgreSQL data in ${dataDir} is gone`));
      renameSync(`${cluster}.aside`, cluster);
      await until(() => fixtures.said.includes('PostgreSQL is back'));
      expect(await query(postgres.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    });

    it('of PostgreSQL, starts although another process has its number by now', async () => {
      await (await fixtures.start({ dataDir })).stop();
      const other = fixtures.bystander(spawnAs(accountFor(cluster)));
      leavePidFile(`${other}\n${cluster}\n1700000000\n1\n\n127.0.0.1\n 1 1\nready   \n`);
      await fixtures.start({ dataDir });
      expect(postmasterOf(cluster)).not.toBe(other);
    });

    it('of PostgreSQL while it wrote its lock, starts although the lock is empty', async () => {
      await (await fixtures.start({ dataDir })).stop();
      leavePidFile('');
      utimesSync(join(cluster, 'postmaster.pid'), 1_700_000_000, 1_700_000_000);
      await fixtures.start({ dataDir });
    });

    it('of the process that was starting it, starts although its lock is still there', async () => {
      mkdirSync(dataDir);
      giveAway(dataDir);
      // The number of a living process, but not its start time.
      writeFileSync(join(dataDir, 'start.lock'), `${process.pid} 1 another`);
      await fixtures.start({ dataDir });
      expect(readdirSync(dataDir).sort()).toEqual(['postgresql', 'postgresql.log']);
    });

    it('of initdb, makes the database anew and clears up', async () => {
      const half = join(dataDir, 'new-00000000-0000-4000-8000-000000000000');
      mkdirSync(join(half, 'base'), { recursive: true });
      writeFileSync(`${half}.password`, 'half');
      giveAway(half);
      await fixtures.start({ dataDir });
      expect(readdirSync(dataDir).sort()).toEqual(['postgresql', 'postgresql.log']);
    });

    function leavePidFile(content: string): void {
      const path = join(cluster, 'postmaster.pid');
      writeFileSync(path, content, { mode: 0o600 });
      giveAway(path);
    }

    /** Makes it the account's that runs PostgreSQL, as what PostgreSQL left would be. */
    function giveAway(path: string): void {
      const account = accountFor(cluster);
      if (account) execFileSync('chown', ['-R', `${account.uid}:${account.gid}`, path]);
    }
  });

  describe('refuses in one line', () => {
    it('data of another major version', async () => {
      mkdirSync(cluster, { recursive: true });
      writeFileSync(join(cluster, 'PG_VERSION'), '17\n');
      await refused(
        { dataDir },
        /holds data of PostgreSQL 17, but this Lanyard brings PostgreSQL 18.*LANYARD_DATA_DIR/,
      );
    });

    it('a directory of something else', async () => {
      mkdirSync(cluster, { recursive: true });
      writeFileSync(join(cluster, 'letter.txt'), 'Dear all');
      await refused({ dataDir }, /is not a PostgreSQL data directory.*LANYARD_DATA_DIR/);
    });

    it('a data directory that is a file', async () => {
      const file = join(fixtures.folder(), 'file');
      writeFileSync(file, '');
      await refused({ dataDir: file }, /cannot use .*file.*LANYARD_DATA_DIR/);
    });

    it('a setting that PostgreSQL does not take, with its complaint', async () => {
      await refused(
        { dataDir, settings: { fsync: 'off', max_connections: 'many' } },
        /max_connections.*postgresql\.log/,
      );
    });

    it('a password that is not that of the database', async () => {
      await (await fixtures.start({ dataDir })).stop();
      writeFileSync(join(cluster, 'lanyard.password'), 'other\n');
      await refused({ dataDir }, /password authentication failed/);
    });

    it('a platform without programs', () => {
      expect(() => findNativePackage('plan9-vax')).toThrow(EmbeddedPostgresError);
      expect(() => findNativePackage('plan9-vax')).toThrow(/plan9-vax.*DATABASE_URL/);
    });

    async function refused(options: Parameters<EmbeddedFixtures['start']>[0], line: RegExp): Promise<void> {
      const error: unknown = await fixtures.start(options).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(EmbeddedPostgresError);
      expect((error as Error).message).toMatch(line);
      expect((error as Error).message).not.toContain('\n');
    }
  });

  describe('programs', () => {
    it('are put right in place where npm blocked the install script', async () => {
      const copy = packageWithoutLinks();
      const { initdb } = await prepareBinaries(readNativePackage(copy), undefined, () => fixtures.folder());
      expect(initdb.startsWith(copy)).toBe(true);
      expect(execFileSync(initdb, ['--version'], { encoding: 'utf8' })).toContain('18.');
    });

    it('are copied where they cannot be put right in place', async () => {
      const home = fixtures.folder();
      chmodSync(home, 0o755);
      const copy = packageWithoutLinks();
      const account = accountFor(home);
      // Root is not kept from writing, but its PostgreSQL is kept from reading.
      execFileSync('chmod', account ? ['0700', copy] : ['-R', 'a-w', copy]);
      const { initdb } = await prepareBinaries(readNativePackage(copy), account, () => home).finally(() =>
        execFileSync('chmod', ['-R', 'u+w', copy]),
      );
      expect(initdb.startsWith(home)).toBe(true);
      expect(execFileSync(initdb, ['--version'], { ...spawnAs(account), encoding: 'utf8' })).toContain('18.');
    });

    function packageWithoutLinks(): string {
      const original = findNativePackage();
      const copy = join(fixtures.folder(), 'package');
      cpSync(original.root, copy, { recursive: true, verbatimSymlinks: true });
      const list = JSON.parse(readFileSync(join(copy, 'native', 'pg-symlinks.json'), 'utf8')) as { target: string }[];
      for (const { target } of list) rmSync(join(copy, target), { force: true });
      chmodSync(join(copy, 'native', 'bin', 'postgres'), 0o644);
      return copy;
    }
  });

  describe('root below a directory of mode 0700', () => {
    onlyAsRoot('(only as root) moves the default data directory, says so, and finds it again', async () => {
      const { options, closed } = below0700();
      const first = await fixtures.start({ ...options, explicit: false });
      fixtures.watched(first.dataDir);
      expect(first.dataDir.startsWith(`${options.systemDir}/project-`)).toBe(true);
      expect(fixtures.said[0]).toMatch(new RegExp(`The data is in ${first.dataDir}.*${closed}`));
      await query(first.url, 'create table note as select 1 as n');
      await first.stop();
      const second = await fixtures.start({ ...options, explicit: false });
      expect(await query(second.url, 'select n from note')).toEqual([{ n: 1 }]);
      await second.stop();
      // Opened in the meantime: the data stays where it is.
      chmodSync(closed, 0o755);
      const third = await fixtures.start({ ...options, explicit: false });
      expect(third.dataDir).toBe(first.dataDir);
    });

    onlyAsRoot('(only as root) refuses a directory that the operator named', async () => {
      const { options, closed } = below0700();
      const start = fixtures.start({ ...options, explicit: true });
      await expect(start).rejects.toThrow(EmbeddedPostgresError);
      await expect(start).rejects.toThrow(new RegExp(`LANYARD_DATA_DIR.*cannot reach.*because of ${closed}`));
    });

    onlyAsRoot('(only as root) does not use a place that others can write to', async () => {
      const { options } = below0700();
      chmodSync(options.systemDir, 0o777);
      await expect(fixtures.start({ ...options, explicit: false })).rejects.toThrow(
        /must be a directory that root owns/,
      );
    });

    function below0700() {
      const closed = fixtures.folder();
      const systemDir = fixtures.folder();
      chmodSync(systemDir, 0o755);
      return { closed, options: { dataDir: join(closed, 'project', '.data'), systemDir } };
    }
  });
});
