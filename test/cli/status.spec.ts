import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { version } from '../../package.json';
import { query, type TestDatabase } from '../../src/testing/test-database';
import { createTestDatabase } from '../support/database';
import { EmbeddedFixtures } from '../support/servers/embedded-fixtures';
import { startInProcess } from '../support/lanyard';
import { Operator } from '../support/operator';
import { NO_SERVER, RedisServer } from '../support/servers/redis-server';
import { describeUnless } from '../support/skipping';

interface Status {
  database: { reachable: boolean; embedded: boolean; version: string; size: number; error?: string };
  redis: object | null;
  migrations: { applied: number; pending: string[] } | null;
  keys: object | null;
  webhooks: { active: number; failing: number; paused: number; disabled: number } | null;
  busiestKeys: { id: string; requests: number }[] | null;
}

describe('operator status', () => {
  let database: TestDatabase;
  beforeEach(async () => void (database = await createTestDatabase()));
  afterEach(() => database.drop());
  const operator = (more: NodeJS.ProcessEnv = {}) =>
    new Operator({ DATABASE_URL: database.url, REDIS_URL: undefined, ...more });

  it('shows the database, its contents, and the keys that expire soon', async () => {
    const server = await startInProcess({ databaseUrl: database.url });
    const tenant = await server.tenant();
    await tenant.import({ leads: [{ id: randomUUID() }, { id: randomUUID() }] });
    await tenant.issueKey({ expiresAt: new Date(Date.now() + 6 * 86_400_000) });
    await tenant.issueKey({ expiresAt: new Date(Date.now() + 8 * 86_400_000) });
    await tenant.issueKey({ expiresAt: new Date(Date.now() - 1000) });
    const { id } = await tenant.issueKey({});
    await query(database.url, `update api_keys set revoked_at = now() where id = '${id}'`);
    await server.stop();

    const status = await operator().json<Status>(['status']);
    expect(status).toEqual({
      version,
      database: {
        reachable: true,
        embedded: false,
        version: expect.stringMatching(/^1[5-8]/) as string,
        size: expect.any(Number) as number,
      },
      redis: null,
      serversWithoutRedis: 0,
      migrations: { applied: expect.any(Number) as number, pending: [] },
      organizations: 1,
      keys: { active: 3, expiring: 1, expired: 1, revoked: 1, scopes: { all: 3, read: 0, capture: 0 } },
      leads: 2,
      webhooks: { active: 0, failing: 0, paused: 0, disabled: 0 },
      subscriptions: [],
      busiestKeys: [],
    });
    expect(status.database.size).toBeGreaterThan(1_000_000);
    const { stdout } = await operator().run(['status']);
    expect(stdout).toMatch(
      /^version +0\.2\.0\ndatabase +reachable true, embedded false, version 1\d\.\d+.*, size \d+\n/,
    );
    expect(stdout).toMatch(/^keys +active 3, expiring 1, expired 1, revoked 1, scopes \(all 3, read 0, capture 0\)$/m);
    expect(stdout).toMatch(/^busiestKeys +none$/m);
  });

  it('shows the busiest keys of the last hour across all servers', async () => {
    const servers = [
      await startInProcess({ databaseUrl: database.url }),
      await startInProcess({ databaseUrl: database.url }),
    ];
    const tenant = await (servers[0] as (typeof servers)[number]).tenant();
    const quiet = await tenant.issueKey({ label: 'qu\u202eiet' });
    for (const server of servers) {
      for (let i = 0; i < 4; i++) await server.client(tenant.key).get('/tagGroups').expect(200);
    }
    await quiet.api.get('/tagGroups').expect(200);
    await query(database.url, `insert into key_usage values ('${quiet.id}', now() - interval '61 minutes', 1000)`);
    for (const server of servers) await server.stop();

    const { busiestKeys } = await operator().json<Status>(['status']);
    const organization = { id: tenant.organizationId, name: 'Test organization' };
    expect(busiestKeys).toEqual([
      { id: tenant.keyId, prefix: tenant.key.slice(0, 10), label: null, organization, requests: 8 },
      { id: quiet.id, prefix: quiet.key.slice(0, 10), label: 'qu\u202eiet', organization, requests: 1 },
    ]);
    const { stdout } = await operator().run(['status']);
    expect(stdout).toMatch(/^busiestKeys:\nid +prefix +label +organization +requests\n/m);
    expect(stdout).toMatch(/ lan_\S+ +id \d+, name Test organization +8$/m);
    expect(stdout).toMatch(/ lan_\S+ +qu\\u202eiet +id \d+, name Test organization +1$/m);
  });

  it('reports an unreachable database, without its password, with and without --json', async () => {
    const nowhere = operator({ DATABASE_URL: 'postgres://lanyard:secret@127.0.0.1:1/none' });
    const { status, stdout, stderr } = await nowhere.run(['status', '--json']);
    expect({ status, stderr }).toEqual({ status: 1, stderr: 'Cannot reach the database.\n' });
    const error = expect.stringMatching(
      /^Cannot connect to the database at 127\.0\.0\.1:1\/none \(DATABASE_URL\): /,
    ) as string;
    const found = { reachable: false, error, embedded: false, version: null, size: null };
    expect(JSON.parse(stdout)).toMatchObject({ database: found, migrations: null, leads: null, busiestKeys: null });
    const shown = await nowhere.run(['status']);
    expect(shown.stdout).toMatch(/^database +reachable false, error Cannot connect to the database at /m);
    expect(stdout + shown.stdout + shown.stderr).not.toContain('secret');
  });

  it('creates no database', async () => {
    const fixtures = new EmbeddedFixtures();
    const LANYARD_DATA_DIR = fixtures.dataDir();
    const { status, stdout } = await operator({ DATABASE_URL: undefined, LANYARD_DATA_DIR }).run(['status', '--json']);
    expect(status).toBe(1);
    const error = expect.stringMatching(`^There is no database in ${LANYARD_DATA_DIR}\\. `) as string;
    expect(JSON.parse(stdout)).toMatchObject({ database: { reachable: false, embedded: true, error } });
    expect(existsSync(LANYARD_DATA_DIR)).toBe(false);
    await fixtures.clean();
  });

  describeUnless(NO_SERVER)(`with a Redis${NO_SERVER}`, () => {
    it('shows its version, or that it is unreachable, which is not an error', async () => {
      const redis = await RedisServer.start();
      const asking = operator({ REDIS_URL: redis.url });
      const version = expect.stringMatching(/^\d+\.\d+/) as string;
      expect((await asking.json<Status>(['status'])).redis).toEqual({ reachable: true, version });
      await redis.kill();
      expect((await asking.json<Status>(['status'])).redis).toEqual({
        reachable: false,
        version: null,
        error: expect.stringContaining('ECONNREFUSED') as string,
      });
      const { stdout } = await asking.run(['status']);
      expect(stdout).toMatch(/^redis +reachable false, error connect ECONNREFUSED /m);
    });
  });
});
