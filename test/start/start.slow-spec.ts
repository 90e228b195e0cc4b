import { version } from '../../package.json';
import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import { Redis } from 'ioredis';
import { freePort } from '../support/servers/free-port';
import { firstStartText } from '../../scripts/first-start-text.mjs';
import { createDemo, originOf } from '../../src/start/first-start';
import { connect as connectDatabase } from '../../src/data/database/connect';
import { query, type TestDatabase } from '../../src/testing/test-database';
import { createTestDatabase } from '../support/database';
import { EmbeddedFixtures, postmasterOf } from '../support/servers/embedded-fixtures';
import { Operator, type Outcome, waitForOutcome } from '../support/operator';
import { waitForOutput, startProgram, waitForExit } from '../support/program';
import { NO_SERVER, RedisServer } from '../support/servers/redis-server';
import { describeUnless, missingProgramReason } from '../support/skipping';
import { waitUntil } from '../support/wait';

const NO_TLS = missingProgramReason('openssl') || NO_SERVER;

it.each([
  ['0.0.0.0', 'http://localhost:3000'],
  ['::1', 'http://localhost:3000'],
  ['192.0.2.7', 'http://192.0.2.7:3000'],
  ['2001:db8::7', 'http://[2001:db8::7]:3000'],
])('a server at %s is found at %s', (address, origin) => {
  expect(originOf({ address, port: 3000 })).toBe(origin);
});

/** A start that is rejected. */
const serve = (settings: NodeJS.ProcessEnv): Promise<Outcome> =>
  new Operator({ REDIS_URL: undefined, HOST: '127.0.0.1', PORT: '0', ...settings }).serve();

/** A role and a database that the server of another URL does not have. */
function withoutDatabase(url: string): string {
  const { host } = new URL(url);
  return `postgres://nobody:secret@${host}/x`;
}

describe('a start', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-start-'));
  chmodSync(folder, 0o755);
  const LANYARD_DATA_DIR = join(folder, 'data');
  const fixtures = new EmbeddedFixtures();
  /** Of a database without an organization. */
  const emptyDataDir = fixtures.dataDir();
  let database: TestDatabase;
  beforeAll(async () => void (database = await createTestDatabase()));
  afterAll(async () => {
    await fixtures.clean();
    rmSync(folder, { recursive: true, force: true });
  });

  it('creates no demo with LANYARD_DEMO=off, and says in one line that it simulates faults', async () => {
    const PGSSLMODE = 'require'; // meant for other servers
    const settings = { PGSSLMODE, LANYARD_DEMO: 'off', LANYARD_SIMULATE: 'production', NODE_ENV: 'production' };
    const child = startProgram({ LANYARD_DATA_DIR: emptyDataDir, ...settings });
    const said = await waitForOutput(child, 'To issue an API key');
    expect(said).not.toContain('lan_');
    expect(said.split('\n').filter((line) => line.includes('LANYARD_SIMULATE'))).toHaveLength(1);
    child.kill('SIGTERM'); // what a terminal sends, npm sends once more
    expect(await waitForExit(child, 'SIGTERM')).toBe(0);
  }, 60_000);

  it('writes no key into a file, and says how to issue one', async () => {
    const file = join(fixtures.folder(), 'log');
    const output = openSync(file, 'w');
    const child = startProgram({ LANYARD_DATA_DIR: emptyDataDir }, [], ['ignore', output, output]);
    await waitUntil(() => readFileSync(file, 'utf8').includes('To issue one'));
    expect(await waitForExit(child, 'SIGTERM')).toBe(0);
    closeSync(output);
    expect(readFileSync(file, 'utf8')).toMatch(/To issue one: .* keys issue --organization 1$/m);
    expect(readFileSync(file, 'utf8')).not.toContain('lan_');
  }, 60_000);

  it('creates a demo once, as README.md shows, keeps all data after kill -9, and stops its PostgreSQL at the end', async () => {
    const first = startProgram({ LANYARD_DATA_DIR });
    const said = await waitForOutput(first, '/leads?limit=1"');
    const { base = '', key = '' } =
      /export LANYARD_URL=(?<base>\S+)\n +export LANYARD_KEY=(?<key>\S+)\n +curl -H "x-api-key: \$LANYARD_KEY" "\$LANYARD_URL\/leads\?limit=1"\n/.exec(
        said,
      )?.groups ?? {};
    const url = `${base}/leads?limit=1`;
    const lead = await (await fetch(url, { headers: { 'x-api-key': key } })).json();
    expect(lead).toMatchObject({ status: 200, results: { total: 12 } });
    const seenByUsers = said.replace(/^Unknown settings, ignored: LANYARD_TEST_.*\n/m, '');
    // node scripts/picture.mjs makes the pictures and their text anew.
    expect(firstStartText(seenByUsers, LANYARD_DATA_DIR, lead)).toBe(
      readFileSync('docs/images/first-start.txt', 'utf8'),
    );
    expect(await waitForExit(first, 'SIGINT')).toBe(0);

    const startAgain = async (): Promise<ChildProcess> => {
      const again = startProgram({ LANYARD_DATA_DIR });
      const output = await waitForOutput(again, 'To issue an API key');
      expect(output).not.toContain('lan_');
      const base = /http:\S+/.exec(output)?.[0] ?? '';
      expect(await (await fetch(`${base}/leads?limit=1`, { headers: { 'x-api-key': key } })).json()).toEqual(lead);
      return again;
    };
    expect(await waitForExit(await startAgain(), 'SIGKILL')).toBeNull();
    const last = await startAgain();
    const { url: databaseUrl } = await fixtures.start({ dataDir: LANYARD_DATA_DIR });
    await expectFailureOfCommand(databaseUrl, () => waitForExit(last, 'SIGTERM'));
    expect(postmasterOf(join(LANYARD_DATA_DIR, 'postgresql'))).toBeUndefined();
  }, 90_000);

  /** A command that uses the PostgreSQL of a server fails with one line when that server stops. */
  async function expectFailureOfCommand(databaseUrl: string, stop: () => Promise<number | null>): Promise<void> {
    const command = new Operator({ LANYARD_DATA_DIR }).start(['import', '-', '--organization', '1']);
    const outcome = waitForOutcome(command);
    const user = `${JSON.stringify({ section: 'users', record: { email: 'ada@example.com' } })}\n`;
    command.stdin?.write(user);
    command.stdin?.on('error', () => undefined); // it may have ended
    // The import has made its temporary tables, and waits for the rest of its input.
    const joined = "select from pg_stat_activity where query like 'create temporary table%'";
    await waitUntil(async () => command.exitCode !== null || (await query(databaseUrl, joined)).length > 0);
    expect(await stop()).toBe(0);
    command.stdin?.end(user);
    const stderr = expect.stringMatching(/^Database error: .+\n$/) as string;
    expect(await outcome).toEqual({ status: 1, stdout: '', stderr });
  }

  it('prints one JSON value on standard output with --json, and everything else on standard error', async () => {
    const dataDir = fixtures.dataDir();
    const child = startProgram({ LANYARD_DATA_DIR: dataDir }, ['start', '--json']);
    const outcome = waitForOutcome(child);
    const printed = once(child.stdout as Readable, 'data') as Promise<[Buffer]>;
    const { url, key, organizationId } = JSON.parse(String((await printed)[0])) as Record<string, string>;
    expect({ url, organizationId }).toEqual({
      url: expect.stringMatching(/^http:\/\/localhost:\d+\/api\/v0$/) as string,
      organizationId: 1,
    });
    const { status } = await fetch(`${url}/leads`, { headers: { 'x-api-key': key ?? '' } });
    expect(status).toBe(200);
    child.kill('SIGTERM');
    const { stdout, stderr } = await outcome;
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain('Lanyard is listening on');
    expect(stderr).toContain('"route":"/api/v0/leads"');
  }, 60_000);

  describe('beside others', () => {
    const status = () => new Operator({ DATABASE_URL: database.url, REDIS_URL: undefined }).run(['status']);
    let first: ChildProcess;
    let said: string;
    beforeAll(async () => {
      first = startProgram({ DATABASE_URL: database.url });
      said = await waitForOutput(first, 'To issue an API key');
    });

    it('warns if another server without Redis uses the database, which `status` shows, too', async () => {
      expect(said).not.toContain('Redis');
      const second = startProgram({ DATABASE_URL: database.url });
      expect(await waitForOutput(second, 'To issue an API key')).toMatch(
        /^2 servers without Redis use this database, so each API key gets its limits 2 times\. .*$/m,
      );
      expect((await status()).stdout).toMatch(
        /^Each key has its limits 2 times: so many servers run without Redis\.$/m,
      );
      expect(await waitForExit(second, 'SIGKILL')).toBeNull();
      await waitUntil(async () => /^serversWithoutRedis +1$/m.test((await status()).stdout));
    }, 60_000);

    it('ends without waiting for silent clients and half requests', async () => {
      const { port } = new URL(/http:\S+/.exec(said)?.[0] ?? '');
      const clients = ['', 'GET /health/live HTTP/1.1\r\nHost:'].map((bytes) => {
        const client = connect(Number(port), '127.0.0.1').on('error', () => undefined);
        client.write(bytes);
        return client;
      });
      // Answered after the others were accepted.
      await fetch(`http://127.0.0.1:${port}/health/live`);
      expect(await waitForExit(first, 'SIGTERM')).toBe(0);
      clients.forEach((client) => client.destroy());
    });
  });

  it('creates the demo completely or not at all, and only once if several processes start', async () => {
    const fresh = await createTestDatabase();
    await query(
      fresh.url,
      `create function fails() returns trigger language plpgsql as $$ begin raise 'disk full'; end $$`,
    );
    await query(fresh.url, 'create trigger fails before insert on lead_activity_events execute function fails()');
    await expect(createDemo(fresh.url)).rejects.toThrow('disk full');
    expect(await query(fresh.url, 'select name from organizations')).toEqual([]);
    await query(fresh.url, 'drop function fails() cascade');
    const made = await Promise.all([createDemo(fresh.url), createDemo(fresh.url)]);
    expect(made.filter(Boolean)).toEqual([
      expect.objectContaining({ label: 'demo', key: expect.stringMatching(/^lan_/) }),
    ]);
    expect(await query(fresh.url, 'select name from organizations')).toEqual([{ name: 'Demo' }]);
  });

  it.each<[string, () => Record<string, string>]>([
    ['PORT', () => ({ PORT: 'http' })],
    ['DATABASE_URL', () => ({ DATABASE_URL: withoutDatabase(database.url) })],
  ])('fails with one line that names %s', async (name, settings) => {
    const { status, stdout, stderr } = await serve({ LANYARD_DATA_DIR, ...settings() });
    expect({ status, stdout, lines: stderr.trim().split('\n').length }).toEqual({ status: 1, stdout: '', lines: 1 });
    expect(stderr).toContain(name);
    expect(stderr).not.toContain('secret');
  });

  it('fails with one line if the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const PORT = String((other.address() as AddressInfo).port);
    const outcome = await serve({ DATABASE_URL: database.url, PORT });
    other.close();
    const stderr = `PORT ${PORT} is already in use. Stop the other program or choose a different PORT.\n`;
    expect(outcome).toEqual({ status: 1, stdout: '', stderr });
  });

  it('fails with one line if it cannot listen on its address', async () => {
    const HOST = '192.0.2.1';
    const stderr = `HOST ${HOST} is not an address of this machine. Use one that is, or 0.0.0.0 for all interfaces.\n`;
    expect(await serve({ DATABASE_URL: database.url, HOST })).toEqual({
      status: 1,
      stdout: '',
      stderr,
    });
  });

  describe('before PostgreSQL', () => {
    const elsewhere = async (): Promise<string> =>
      Object.assign(new URL(database.url), { port: String(await freePort()) }).href;

    it('waits for PostgreSQL, says so, and then starts', async () => {
      const DATABASE_URL = await elsewhere();
      const child = startProgram({ DATABASE_URL });
      const { host, pathname } = new URL(DATABASE_URL);
      expect(await waitForOutput(child, 'ECONNREFUSED')).toContain(
        `Lanyard ${version}\nWaiting for PostgreSQL at ${host}${pathname}: connect ECONNREFUSED`,
      );
      const doorway = createServer((socket) => {
        const { port, hostname } = new URL(database.url);
        const upstream = connect(Number(port || 5432), hostname);
        pipeline(socket, upstream, socket, () => undefined);
      }).listen(Number(new URL(DATABASE_URL).port), '127.0.0.1');
      expect(await waitForOutput(child, 'To issue an API key')).toContain('Lanyard is listening on');
      expect(await waitForExit(child, 'SIGTERM')).toBe(0);
      doorway.close();
    }, 60_000);

    it('stops on a signal', async () => {
      const child = startProgram({ DATABASE_URL: await elsewhere() });
      expect(await waitForOutput(child, 'Waiting')).toContain('Waiting for PostgreSQL');
      expect(await waitForExit(child, 'SIGHUP')).toBe(0);
    });
  });

  describeUnless(NO_TLS)(`with TLS${NO_TLS}`, () => {
    let cert: string;
    let postgres: string;
    let redisPort: number;

    beforeAll(async () => {
      const dataDir = fixtures.dataDir();
      const { url } = await fixtures.start({ dataDir });
      cert = join(dataDir, 'cert.pem');
      const key = join(dataDir, 'key.pem');
      const subject = ['-subj', '/CN=here', '-addext', 'subjectAltName=IP:127.0.0.1'];
      spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...subject]);
      redisPort = await freePort();
      const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
      await RedisServer.start('--tls-port', String(redisPort), ...files, '--tls-auth-clients', 'no');
      // PostgreSQL takes a key from its own user alone.
      const { uid, gid } = statSync(join(dataDir, 'postgresql'));
      chownSync(key, uid, gid);
      for (const [setting, value] of Object.entries({ ssl_cert_file: cert, ssl_key_file: key, ssl: 'on' })) {
        await query(url, `alter system set ${setting} = '${value}'`);
      }
      await query(url, 'select pg_reload_conf()');
      postgres = `${url.replace(/\?.*/, '')}?sslmode=verify-full&sslrootcert=${cert}`;
    }, 60_000);

    it('verifies the certificates of PostgreSQL and Redis', async () => {
      const operator = new Operator({ DATABASE_URL: postgres });
      const { id } = await operator.json<{ id: number }>(['organizations', 'create', '--name', 'Safe']);
      const { key } = await operator.json<{ key: string }>(['keys', 'issue', '--organization', String(id)]);
      const REDIS_URL = `rediss://127.0.0.1:${redisPort}`;
      const child = startProgram({ DATABASE_URL: postgres, REDIS_URL, NODE_EXTRA_CA_CERTS: cert });
      const base = /http:\S+/.exec(await waitForOutput(child, 'To issue an API key'))?.[0];
      expect((await fetch(`${base}/leads`, { headers: { 'x-api-key': key } })).status).toBe(200);

      const connections =
        "select ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'lanyard'";
      const encrypted = await query(postgres, connections);
      expect(encrypted.length).toBeGreaterThan(0);
      expect(encrypted).toEqual(encrypted.map(() => ({ ssl: true })));
      const buckets = new Redis(`rediss://127.0.0.1:${redisPort}`, { tls: { ca: readFileSync(cert) } });
      const keys = await buckets.keys('rl:v1:*');
      // The server has asked Redis at its start, too.
      expect(keys.filter((name) => name !== 'rl:v1:start')).toHaveLength(1);
      buckets.disconnect();
      expect(await waitForExit(child, 'SIGTERM')).toBe(0);
    }, 60_000);

    it('fails with one line if the certificate is not signed by a trusted authority', async () => {
      const DATABASE_URL = postgres.replace(/&sslrootcert.*/, '');
      const said: string[] = [];
      const waiting = { retryForMs: 30_000, log: (line: string) => said.push(line) };
      await expect(connectDatabase(DATABASE_URL, waiting)).rejects.toThrow('certificate');
      expect(said).toEqual([]); // it did not wait for another certificate
      const { status, stderr } = await serve({ DATABASE_URL });
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: expect.stringMatching(/^Cannot connect .*DATABASE_URL.*certificate.*\n$/),
      });
    });
  });
});
