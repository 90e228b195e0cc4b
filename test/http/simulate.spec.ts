import { randomUUID } from 'node:crypto';
import type { Test } from 'supertest';
import { isTriggered, parseFaults } from '../../src/http/simulate/faults';
import { leadInput } from '../support/builders';
import { openConnection, receiveAll } from '../support/connection';
import { InProcess, startInProcess, Tenant, withTenant } from '../support/lanyard';
import { Operator } from '../support/operator';

const suffering = (faults: string, request: Test): Test => request.set('Lanyard-Simulate', faults);

const strict = (request: Test): Test => request.set('Prefer', 'handling=strict');
const faultIn = ({ headers }: { headers: Record<string, string> }) => [
  headers['lanyard-fault'],
  headers['lanyard-fault-reason'],
];

describe('a server that simulates faults', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  let api: Tenant['api'];
  beforeAll(async () => {
    [lanyard, tenant] = await withTenant(startInProcess({ simulate: 'on' }));
    api = tenant.api;
  });

  const total = async (): Promise<number> => (await api.get('/leads').expect(200)).body.results.total;
  const origin = () => lanyard.baseUrl.replace('/api/v0', '');

  it('says so in every answer', async () => {
    const stranger = lanyard.client('lan_nobody');
    const answers = [api.get('/leads'), api.get('/nothing'), stranger.get('/leads'), lanyard.client().get('/leads')];
    for (const { headers } of await Promise.all(answers)) expect(headers['lanyard-simulate']).toBe('on');
    for (const path of ['/health/ready', '/health/live', '/openapi.json', '/nowhere']) {
      expect((await fetch(origin() + path)).headers.get('lanyard-simulate')).toBe('on');
    }
  });

  it.each([
    [401, 'Unauthorized', {}],
    [403, 'Forbidden', {}],
    [404, 'Not Found', {}],
    [408, 'Request Timeout', { connection: 'close' }],
    [409, 'The first request with this Idempotency-Key is still running', { 'retry-after': '1' }],
    [413, 'Payload Too Large', {}],
    [500, 'Internal Server Error', {}],
    [502, 'Bad Gateway', {}],
    [503, 'Service Unavailable', { 'retry-after': '1' }],
    [504, 'Gateway Timeout', {}],
  ])('answers status=%s as the real one is, and does nothing', async (status, error, headers) => {
    const before = await total();
    const answer = await fetch(`${lanyard.baseUrl}/leads`, {
      method: 'POST',
      body: JSON.stringify(leadInput()),
      headers: {
        'x-api-key': tenant.key,
        'content-type': 'application/json',
        prefer: 'tx=commit',
        'lanyard-simulate': `status=${status}`,
      },
    });
    expect([answer.status, await answer.json()]).toEqual([status, { status, error }]);
    const isOfGuard = status === 401 || status === 403;
    expect(Object.fromEntries(answer.headers)).toMatchObject(headers);
    expect(answer.headers.has('x-ratelimit-remaining')).toBe(!isOfGuard);
    expect(answer.headers.has('preference-applied')).toBe(!isOfGuard);
    expect(await total()).toBe(before);
  });

  it('expires cursors with status=410, and takes the header for nothing where there is no cursor', async () => {
    const { cursor } = (await suffering('status=410', strict(api.get('/changes'))).expect(200)).body.results;
    const gone = await suffering('status=410', strict(api.get('/changes', { cursor }))).expect(410);
    expect(gone.body).toEqual({ status: 410, error: 'Gone' });
    const rejected = await suffering('status=410', api.get('/leads')).expect(400);
    expect(faultIn(rejected)).toEqual(['header Lanyard-Simulate', 'unsupported']);
  });

  it('expires the cursors of a key that was issued so, and leaves its other requests alone', async () => {
    const operator = new Operator({ DATABASE_URL: lanyard.config.databaseUrl });
    const organization = String(tenant.organizationId);
    const issue = ['keys', 'issue', '--organization', organization, '--simulate', 'status=410'];
    const own = lanyard.client((await operator.json<{ key: string }>(issue)).key);
    const { cursor } = (await own.get('/changes').expect(200)).body.results;
    await own.get('/leads').expect(200);
    await own.get('/changes', { cursor }).expect(410);
  });

  it('names the header of the key in a simulated 401', async () => {
    const { headers } = await suffering('status=401', api.get('/leads')).expect(401);
    expect(headers).toMatchObject({
      'www-authenticate': expect.stringContaining('x-api-key'),
      'lanyard-fault': 'header x-api-key',
    });
  });

  it('answers 429 with the headers of an empty bucket, and takes no token', async () => {
    const limited = await tenant.issueKey({ maxTokens: 5, refillRate: 0.1 });
    const { headers } = await suffering('status=429', limited.api.get('/leads')).expect(429);
    expect(headers).toMatchObject({
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': '0',
      'retry-after': '10',
    });
    const full = Number(headers['x-ratelimit-reset']) - Date.now() / 1000;
    expect([full > 48, full < 52]).toEqual([true, true]);
    const next = await limited.api.get('/leads').expect(200);
    expect(next.headers['x-ratelimit-remaining']).toBe('4');
  });

  it('lets the key and the bucket come first', async () => {
    await suffering('status=503', lanyard.client().get('/leads')).expect(401);
    const limited = await tenant.issueKey({ maxTokens: 1, refillRate: 0.001 });
    await suffering('status=503', limited.api.get('/leads')).expect(503);
    await suffering('status=503', limited.api.get('/leads')).expect(429);
    await suffering('nonsense', limited.api.get('/leads')).expect(429);
    await suffering('nonsense', lanyard.client().get('/leads')).expect(401);
    expect((await fetch(`${origin()}/health/live`, { headers: { 'lanyard-simulate': 'status=503' } })).status).toBe(
      200,
    );
  });

  it('waits before the answer', async () => {
    const begun = performance.now();
    await suffering('delay=300', api.get('/leads')).expect(200);
    await suffering('delay=300; status=503', api.get('/leads')).expect(503);
    expect(performance.now() - begun).toBeGreaterThan(590);
    await suffering('delay=0', api.get('/leads')).expect(200);
  });

  it('cuts the connection before the handler, so that nothing is done', async () => {
    const before = await total();
    await expect(suffering('drop=before', api.post('/leads', leadInput()))).rejects.toThrow('socket hang up');
    expect(await total()).toBe(before);
  });

  it('cuts the connection after the commit: what is repeated under its Idempotency-Key is done once', async () => {
    const before = await total();
    const key = randomUUID();
    const request = () => api.post('/leads', leadInput()).set('Idempotency-Key', key);
    await expect(suffering('drop=after', request())).rejects.toThrow('socket hang up');
    expect(await total()).toBe(before + 1);
    const { headers } = await request().expect(200);
    expect(headers['idempotency-replayed']).toBe('true');
    expect(await total()).toBe(before + 1);
  });

  it.each([
    ['/leads', 0, 200],
    ['/leads', 25, 200],
    ['/nothing', 7, 404],
  ])('ends the answer to %s after %s bytes, and the connection with it', async (path, bytes, status) => {
    const whole = await api.get(path).expect(status);
    const head = `GET /api/v0${path} HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.key}\r\n`;
    const socket = openConnection(lanyard.baseUrl);
    socket.write(`${head}Lanyard-Simulate: truncate=${bytes}\r\n\r\n`);
    const text = await receiveAll(socket);
    const [headers = '', body] = text.split('\r\n\r\n');
    expect(headers).toContain(`HTTP/1.1 ${status} `);
    expect(headers).toContain(`Content-Length: ${whole.text.length}`);
    expect(body).toBe(whole.text.slice(0, bytes));
  });

  it('leaves an answer whole that is no longer than that', async () => {
    const { text } = await api.get('/leads').expect(200);
    await suffering(`truncate=${text.length}`, api.get('/leads')).expect(200, text);
  });

  it('meets the same sequence of requests with the same faults', async () => {
    const sequence = async (faults: string): Promise<number[]> => {
      const { api: own } = await tenant.issueKey({ maxTokens: 1000, refillRate: 1000 });
      const statuses: number[] = [];
      for (let n = 0; n < 40; n++) statuses.push((await suffering(faults, own.get('/leads'))).status);
      return statuses;
    };
    const first = await sequence('rate=0.3; seed=7; status=503');
    expect(new Set(first)).toEqual(new Set([200, 503]));
    expect(await sequence('rate=0.3; seed=7; status=503')).toEqual(first);
    expect(await sequence('rate=0.3; seed=8; status=503')).not.toEqual(first);
    expect(new Set(await sequence('rate=0; status=503'))).toEqual(new Set([200]));
  });

  it.each([
    '',
    'x',
    'status',
    'status=',
    'status=200',
    'status=503,status=503',
    'status=503; status=404',
    'delay=30001',
    'delay=-1',
    'delay=1e3',
    'drop=during',
    'truncate=x',
    'rate=2; status=503',
    'rate=0.5',
    'seed=1',
    'status=503;',
    '__proto__=1',
    'constructor=1',
    `status=503;${' '.repeat(256)}delay=1`,
  ])('refuses a malformed value: %j', async (faults) => {
    const { body, headers } = await suffering(faults, api.get('/leads')).expect(400);
    expect([body.error, headers['lanyard-fault']]).toEqual(['Bad Request', 'header Lanyard-Simulate']);
  });

  it('makes every request of a key suffer that was issued so, and of the one that takes its place', async () => {
    const operator = new Operator({ DATABASE_URL: lanyard.config.databaseUrl });
    const organization = String(tenant.organizationId);
    const issue = ['keys', 'issue', '--organization', organization, '--simulate', 'status=503'];
    const issued = await operator.json<{ id: string; key: string; simulate: string }>(issue);
    expect(issued.simulate).toBe('status=503');
    const issueWithoutEffect = await operator.json<typeof issued>([...issue.slice(0, -1), 'delay=0']);
    const rotated = await operator.json<typeof issued>(['keys', 'rotate', issued.id, '--overlap', '60']);
    for (const { key } of [issued, rotated]) await lanyard.client(key).get('/leads').expect(503);
    await suffering('status=500', lanyard.client(rotated.key).get('/leads')).expect(503);
    // The key's own faults count, so the header would be ignored.
    const ignored = await suffering('status=500', strict(lanyard.client(issueWithoutEffect.key).get('/leads'))).expect(
      400,
    );
    expect(faultIn(ignored)).toEqual(['header Lanyard-Simulate', 'unsupported']);
    const listed = await operator.json<{ simulate?: string }[]>(['keys', 'list', '--organization', organization]);
    expect(listed.filter(({ simulate }) => simulate === 'status=503')).toHaveLength(2);
    const shown = await operator.run(issue);
    expect(shown.stdout).toMatch(/^simulate +status=503$/m);

    const ordinary = await startInProcess({ databaseUrl: lanyard.config.databaseUrl });
    const { headers } = await ordinary.client(issued.key).get('/leads').expect(200);
    expect(headers).not.toHaveProperty('lanyard-simulate');
    await suffering('status=503', ordinary.client(tenant.key).get('/leads')).expect(200);
    await suffering('nonsense', ordinary.client(tenant.key).get('/leads')).expect(200);
    const rejected = await suffering('status=503', strict(ordinary.client(tenant.key).get('/leads'))).expect(400);
    expect(faultIn(rejected)).toEqual(['header Lanyard-Simulate', 'unsupported']);
  });
});

describe('faults at a rate', () => {
  it('are as many as it says', () => {
    const faults = parseFaults('rate=0.1; seed=3; drop=after');
    const hits = Array.from({ length: 10_000 }, (_, n) => faults && isTriggered(faults, n)).filter(Boolean);
    expect(hits.length).toBeGreaterThan(900);
    expect(hits.length).toBeLessThan(1100);
  });
});
