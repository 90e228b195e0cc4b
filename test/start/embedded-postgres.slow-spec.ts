import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Pool } from 'pg';
import {
  errorLineIn,
  EmbeddedPostgresError,
  explainError,
} from '../../src/data/embedded-postgres/embedded-postgres-error';
import { lastSetting, OWNER_SETTING } from '../../src/data/embedded-postgres/postmaster';
import { Programs } from '../../src/data/embedded-postgres/programs';
import { query } from '../../src/testing/test-database';
import { EmbeddedFixtures, killPostmaster, postmasterOf } from '../support/servers/embedded-fixtures';
import { waitUntil } from '../support/wait';

const onlyAsRoot = process.getuid?.() === 0 ? it : it.skip;

/** The tests use the cluster that the first one makes: making one takes seconds. */
describe('embedded PostgreSQL', () => {
  const fixtures = new EmbeddedFixtures();
  const dataDir = fixtures.dataDir();
  const cluster = join(dataDir, 'postgresql');
  const log = join(cluster, 'server.log');

  afterAll(() => fixtures.clean());

  it('runs a program that exits before it has read its input', async () => {
    await new Programs(undefined).run('initdb', ['--version'], 'secret\n'.repeat(1 << 20));
  });

  describe('shared by several processes', () => {
    afterEach(() => fixtures.stop());

    it('runs once if two processes start it at the same time; one of them owns and stops it', async () => {
      const members = await Promise.all([fixtures.member(dataDir), fixtures.member(dataDir)]);
      const [owner, guest] = members.sort((one) => (one.pid === lastSetting(cluster, OWNER_SETTING) ? -1 : 1));
      expect(owner?.pid).toBe(lastSetting(cluster, OWNER_SETTING));
      expect(owner?.url).toBe(guest?.url);
      await query(String(guest?.url), 'create table note as select 1 as n');
      await guest?.stop();
      expect(await query(String(owner?.url), 'select n from note')).toEqual([{ n: 1 }]);
      await owner?.stop();
      expect(postmasterOf(cluster)).toBeUndefined();
      expect(readdirSync(dataDir)).toEqual(['postgresql']);
    });

    it('has ended for all processes when its owner stops it', async () => {
      const owner = await fixtures.member(dataDir);
      await fixtures.start({ dataDir });
      await owner.stop();
      expect(postmasterOf(cluster)).toBeUndefined();
    });

    it('is restarted on the same port by a server that used it, which owns it from then on', async () => {
      const owner = await fixtures.member(dataDir);
      const server = await fixtures.start({ dataDir, keepRunning: true });
      await owner.stop();
      await waitUntil(() => fixtures.said.includes('PostgreSQL is running again'));
      expect(server.url).toBe(owner.url);
      expect(await query(server.url, 'select n from note')).toEqual([{ n: 1 }]);
      await server.stop();
      expect(postmasterOf(cluster)).toBeUndefined();
    });
  });

  describe('while it runs', () => {
    let url: string;
    beforeAll(async () => {
      writeFileSync(log, Buffer.alloc(5_000_001));
      ({ url } = await fixtures.start({ dataDir }));
    });
    afterAll(() => fixtures.stop());

    it('logs no rows, and truncates its log above 5 MB', async () => {
      expect(statSync(log).size).toBeLessThan(100_000);
      await query(url, 'create table person (name text primary key)');
      await query(url, `insert into person values ('Ada Lovelace')`);
      await expect(query(url, `insert into person values ('Ada Lovelace')`)).rejects.toThrow('duplicate key');
      await expect(query(url, `select 'Ada Lovelace'::int`)).rejects.toThrow('invalid input');
      expect(readFileSync(log, 'utf8')).toContain('ready to accept connections');
      expect(readFileSync(log, 'utf8')).not.toContain('Ada');
    });

    it('rejects a wrong password, and listens only on 127.0.0.1', async () => {
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

    it('of its owner, is replaced by the next process, which finds every acknowledged row', async () => {
      const owner = await fixtures.member(dataDir);
      const orphan = postmasterOf(cluster);
      await query(owner.url, 'update note set n = 2');
      await owner.kill();
      const next = await fixtures.start({ dataDir });
      expect(next.url).toBe(owner.url);
      expect(postmasterOf(cluster)).not.toBe(orphan);
      expect(await query(next.url, 'select n from note')).toEqual([{ n: 2 }]);
      await next.stop();
      expect(postmasterOf(cluster)).toBeUndefined();
    });

    it('of its owner, serves the other processes, and stops with the first of them', async () => {
      const owner = await fixtures.member(dataDir);
      const guest = await fixtures.start({ dataDir });
      await owner.kill();
      expect(await query(guest.url, 'select n from note')).toEqual([{ n: 2 }]);
      await guest.stop();
      expect(postmasterOf(cluster)).toBeUndefined();
    });

    it('of its owner and itself, starts again even if another process has its ID', async () => {
      const owner = await fixtures.member(dataDir);
      await query(owner.url, 'update note set n = 3');
      await owner.kill();
      await killPostmaster(cluster);
      const { uid, gid } = statSync(cluster);
      const other = spawn('sleep', ['600'], { uid, gid });
      await once(other, 'spawn');
      const left = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').replace(/^\d+/, String(other.pid));
      writeFileSync(join(cluster, 'postmaster.pid'), left);
      const next = await fixtures.start({ dataDir });
      other.kill();
      expect(await query(next.url, 'select n from note')).toEqual([{ n: 3 }]);
    });

    it('of itself, is restarted by a server on the same port, and pools reconnect', async () => {
      const server = await fixtures.start({ dataDir, keepRunning: true });
      const pool = new Pool({ connectionString: server.url });
      pool.on('error', () => undefined);
      await pool.query('select 1');
      await killPostmaster(cluster);
      await waitUntil(() => fixtures.said.includes('PostgreSQL is running again'));
      expect(fixtures.said).toEqual(['PostgreSQL stopped; restarting it', 'PostgreSQL is running again']);
      expect((await pool.query('select n from note')).rowCount).toBe(1);
      await pool.end();
    });
  });

  describe('fails with one line for', () => {
    it('data of another major version', async () => {
      const other = fixtures.dataDir();
      mkdirSync(join(other, 'postgresql'), { recursive: true });
      writeFileSync(join(other, 'postgresql', 'PG_VERSION'), '17\n');
      await refused(
        other,
        /holds data of PostgreSQL 17, but this release of Lanyard includes PostgreSQL 18.*LANYARD_DATA_DIR/,
      );
    });

    it('a directory that cannot be created', async () => {
      const file = join(fixtures.folder(), 'file');
      writeFileSync(file, '');
      await refused(join(file, 'data'), /cannot use .*file\/data: E.*Set LANYARD_DATA_DIR to a directory/);
    });

    it('an error of PostgreSQL itself, in its words', async () => {
      const broken = join(cluster, 'postgresql.conf');
      const intact = readFileSync(broken);
      writeFileSync(broken, 'no setting\n');
      await refused(dataDir, /did not start: .*postgresql.conf.* \(its log: .*server\.log\)$/);
      writeFileSync(broken, intact);
    });

    it('a full disk, with advice', () => {
      const advice = 'Free space on the disk, or set LANYARD_DATA_DIR to a directory on another disk.';
      const error = Object.assign(new Error('ENOSPC: no space left on device, write'), {
        code: 'ENOSPC',
        syscall: 'write',
      });
      expect((explainError(error, '/data') as Error).message).toBe(
        `The embedded PostgreSQL cannot use /data: the disk is full. ${advice}`,
      );
      const output = '2026-01-01 [7] FATAL:  could not write lock file: No space left on device\nchild exited\n';
      expect(errorLineIn(output)).toBe(`could not write lock file: No space left on device. ${advice}`);
      const partial =
        'FATAL:  could not extend file: wrote only 4096 of 8192 bytes\nPANIC:  cannot abort transaction 1\n';
      expect(errorLineIn(partial)).toBe(`could not extend file: wrote only 4096 of 8192 bytes. ${advice}`);
    });

    it('a user ID without an entry in the list of users', () => {
      expect(errorLineIn('initdb: error: could not look up effective user ID 12345: user does not exist\n')).toBe(
        'could not look up effective user ID 12345: user does not exist. Set DATABASE_URL to a PostgreSQL of your own, ' +
          'or give this user an entry in the list of users (/etc/passwd).',
      );
    });

    onlyAsRoot(
      '(only as root) a directory that who runs PostgreSQL for root cannot reach, and says what to do',
      async () => {
        const closed = join(fixtures.folder(), 'data'); // below a directory of mode 0700
        await refused(
          closed,
          new RegExp(`^PostgreSQL cannot run as root. .* cannot access ${closed}. Run Lanyard as an`),
        );
        expect(readdirSync(dirname(closed))).toEqual([]);
      },
    );

    async function refused(where: string, line: RegExp): Promise<void> {
      const error: unknown = await fixtures.start({ dataDir: where }).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(EmbeddedPostgresError);
      expect((error as Error).message).toMatch(line);
      expect((error as Error).message).not.toContain('\n');
    }
  });

  it('links its libraries if npm did not run the install script', () => {
    const programs = new Programs(undefined, packageWithoutLinks());
    expect(programs.check()).toBe('18');
    expect(execFileSync(programs.file('initdb'), ['--version'], { encoding: 'utf8' })).toContain('18.');
  });

  function packageWithoutLinks(): string {
    const root = join(fixtures.folder(), 'package');
    cpSync(new Programs(undefined).root, root, { recursive: true, verbatimSymlinks: true });
    const list = JSON.parse(readFileSync(join(root, 'native', 'pg-symlinks.json'), 'utf8')) as { target: string }[];
    for (const { target } of list) rmSync(join(root, target), { force: true });
    return root;
  }
});
