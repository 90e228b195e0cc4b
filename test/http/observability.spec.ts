import { DataSource } from 'typeorm';
import { createLog } from '../../src/observability/log';
import { Metrics } from '../../src/observability/metrics';
import { leadInput } from '../support/builders';
import { openConnection } from '../support/connection';
import { freePort } from '../support/servers/free-port';
import { InProcess, startInProcess, Tenant, withTenant } from '../support/lanyard';
import { NO_SERVER, RedisServer } from '../support/servers/redis-server';
import { describeUnless } from '../support/skipping';
import { lockWaits, waitUntil } from '../support/wait';

type Entry = Record<string, unknown>;

/** A log that is kept, and can be waited for: a request's entry is written when its answer is gone. */
class KeptLog {
  readonly entries: Entry[] = [];
  private waiting: (() => void)[] = [];
  readonly log = createLog('info', {
    write: (line) => {
      this.entries.push(JSON.parse(line) as Entry);
      this.waiting.splice(0).forEach((look) => look());
    },
  });

  async first(fits: (entry: Entry) => boolean): Promise<Entry> {
    for (;;) {
      const found = this.entries.find(fits);
      if (found) return found;
      await new Promise<void>((look) => this.waiting.push(look));
    }
  }
}

const ofRequest = (id: string) => (entry: Entry) => entry.requestId === id && 'route' in entry;

describe('the log', () => {
  const kept = new KeptLog();
  let lanyard: InProcess;
  let tenant: Tenant;
  beforeAll(async () => void ([lanyard, tenant] = await withTenant(startInProcess({}, kept.log))));

  it('has one entry a request, which says whose it was, and how it ended', async () => {
    await tenant.api.get('/leads').set('x-request-id', 'r-1').expect(200);
    expect(await kept.first(ofRequest('r-1'))).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      pid: process.pid,
      requestId: 'r-1',
      method: 'GET',
      route: '/api/v0/leads',
      status: 200,
      durationMs: expect.any(Number),
      organizationId: tenant.organizationId,
      keyId: tenant.keyId,
    });
    expect(kept.entries.filter(ofRequest('r-1'))).toHaveLength(1);
  });

  it.each<[string, string, Entry]>([
    [
      'an id is no route',
      '/leads/0190a7a5-5d5c-7e2a-b0e3-000000000000',
      { route: '/api/v0/leads/:leadId', status: 404 },
    ],
    ['nor is a path that nothing has', '/nothing/at/all', { route: '*', status: 404 }],
    [
      'a refused query',
      '/leads?limit=-1',
      { route: '/api/v0/leads', status: 400, fault: 'query limit', reason: 'range' },
    ],
    [
      'a refused id',
      '/leads/x',
      { route: '/api/v0/leads/:leadId', status: 400, fault: 'path leadId', reason: 'format' },
    ],
  ])('%s', async (name, path, entry) => {
    const id = name.replaceAll(' ', '-');
    await tenant.api.get(path).set('x-request-id', id);
    expect(await kept.first(ofRequest(id))).toMatchObject({ method: 'GET', ...entry });
  });

  it('says nothing of a caller who has no key', async () => {
    await lanyard.client('lan_nobody').get('/leads').set('x-request-id', 'r-2').expect(403);
    const entry = await kept.first(ofRequest('r-2'));
    expect(entry).toMatchObject({ status: 403 });
    expect(entry).not.toHaveProperty('keyId');
  });

  it('calls a failure of the server an error, and says why in an entry of the same id', async () => {
    const database = lanyard.app.get(DataSource);
    await database.query('alter table tag_groups rename to elsewhere');
    await tenant.api.get('/tagGroups').set('x-request-id', 'r-3').expect(500);
    await database.query('alter table elsewhere rename to tag_groups');
    expect(await kept.first(ofRequest('r-3'))).toMatchObject({ status: 500, level: 'error' });
    const why = await kept.first((entry) => entry.requestId === 'r-3' && 'error' in entry);
    expect(why).toMatchObject({ level: 'error', part: 'Request', error: 'QueryFailedError', sqlState: '42P01' });
  });

  it('says that a client left before its answer', async () => {
    await lanyard.app.get(DataSource).transaction(async (manager) => {
      await manager.query('lock table tag_groups in access exclusive mode');
      const socket = openConnection(lanyard.baseUrl);
      const head = ['GET /api/v0/tagGroups HTTP/1.1', 'Host: x', `x-api-key: ${tenant.key}`, 'x-request-id: r-4'];
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
      await waitUntil(async () => (await lockWaits(lanyard.config.databaseUrl as string)) === 1);
      socket.resetAndDestroy();
      expect(await kept.first(ofRequest('r-4'))).toMatchObject({ status: 499, route: '/api/v0/tagGroups' });
    });
  });

  it('leaves out probes, and everything that a client sent', async () => {
    const canary = 'canary-7f3a';
    const { api } = tenant;
    await api.post('/leads', leadInput({ firstName: canary, email: `${canary}@example.com` })).expect(200);
    await api.get('/industryEvents', { q: canary }).set('user-agent', canary).expect(200);
    await api.get(`/${canary}`).expect(404);
    await api.get(`/leads/${canary}`, { limit: canary, [canary]: canary }).expect(400);
    await api.post('/leads', leadInput({ email: canary, [canary]: canary })).expect(400);
    expect((await fetch(new URL('/health/ready', lanyard.baseUrl))).status).toBe(200);
    await api.get('/leads').set('x-request-id', 'last').expect(200);
    await kept.first(ofRequest('last'));
    expect(kept.entries.filter(({ route }) => String(route).startsWith('/health'))).toEqual([]);
    const text = JSON.stringify(kept.entries);
    expect(text).not.toContain(canary);
    expect(text).not.toContain(tenant.key);
  });
});

describe('the metrics', () => {
  const scrape = async ({ app }: InProcess, path = '/metrics'): Promise<Response> =>
    fetch(`http://127.0.0.1:${app.get(Metrics).port}${path}`);
  const valuesOf = async (lanyard: InProcess): Promise<Map<string, number>> => {
    const lines = (await (await scrape(lanyard)).text()).split('\n').filter((line) => line && !line.startsWith('#'));
    return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
  };

  it('count requests and decisions, and tell of the pool and the database, on a port of their own', async () => {
    const lanyard = await startInProcess({ metricsPort: 0, host: '127.0.0.1' });
    const { api } = await lanyard.tenant({ maxTokens: 2, refillRate: 0.001 });
    for (const status of [200, 404, 429]) await api.get(status === 404 ? '/nothing' : '/leads').expect(status);
    await lanyard.client().get('/leads').expect(401);

    const values = await valuesOf(lanyard);
    const count = (route: string, status: number) =>
      values.get(`lanyard_http_request_duration_seconds_count{method="GET",route="${route}",status="${status}"}`);
    expect([count('/api/v0/leads', 200), count('/api/v0/leads', 429), count('/api/v0/leads', 401)]).toEqual([1, 1, 1]);
    expect(count('*', 404)).toBe(1);
    expect(values.get('lanyard_bucket_decisions_total{decision="admitted"}')).toBe(2);
    expect(values.get('lanyard_bucket_decisions_total{decision="rejected"}')).toBe(1);
    expect(values.get('lanyard_database_up')).toBe(1);
    expect(values.get('lanyard_database_size_bytes')).toBeGreaterThan(1e6);
    expect(values.get('lanyard_database_connections_max')).toBe(12);
    expect(values.get('lanyard_database_connections{state="idle"}')).toBeGreaterThan(0);
    expect(values.get('lanyard_database_waiting_requests')).toBe(0);
    expect(values.get('lanyard_redis_degraded')).toBe(0);
    expect(values.has('nodejs_eventloop_lag_p99_seconds')).toBe(true);

    expect((await scrape(lanyard)).headers.get('content-type')).toContain('text/plain');
    expect((await scrape(lanyard, '/')).status).toBe(404);
    // They are not for clients.
    expect((await fetch(new URL('/metrics', lanyard.baseUrl))).status).not.toBe(200);
    await lanyard.stop();
    await expect(scrape(lanyard)).rejects.toThrow();
  });

  it('say from the start that Redis is away, before any request; so does the log', async () => {
    const kept = new KeptLog();
    const redisUrl = `redis://127.0.0.1:${await freePort()}`;
    const lanyard = await startInProcess({ metricsPort: 0, host: '127.0.0.1', redisUrl }, kept.log);
    expect(kept.entries.filter(({ part }) => part === 'RateLimit')).toEqual([
      expect.objectContaining({ level: 'warn', message: expect.stringMatching(/^Redis is unreachable/) as string }),
    ]);
    expect(kept.entries.filter((entry) => 'msg' in entry)).toEqual([]);
    expect((await valuesOf(lanyard)).get('lanyard_redis_degraded')).toBe(1);
  });

  describeUnless(NO_SERVER)(`with Redis${NO_SERVER}`, () => {
    it('say when it is away, and how much was decided without it; so does the log, once each way', async () => {
      const redis = await RedisServer.start();
      const kept = new KeptLog();
      const lanyard = await startInProcess({ metricsPort: 0, host: '127.0.0.1', redisUrl: redis.url }, kept.log);
      const { api } = await lanyard.tenant();
      await api.get('/tagGroups').expect(200);
      expect((await valuesOf(lanyard)).get('lanyard_redis_degraded')).toBe(0);
      await redis.kill();
      for (let n = 0; n < 5; n++) await api.get('/tagGroups').expect(200);
      const values = await valuesOf(lanyard);
      expect(values.get('lanyard_redis_degraded')).toBe(1);
      expect(values.get('lanyard_bucket_decisions_without_redis_total')).toBeGreaterThanOrEqual(3);

      await redis.start();
      while ((await valuesOf(lanyard)).get('lanyard_redis_degraded')) await api.get('/tagGroups').expect(200);
      const levels = kept.entries.filter(({ part }) => part === 'RateLimit').map(({ level }) => level);
      expect(levels).toEqual(['warn', 'warn']);
    });
  });
});
