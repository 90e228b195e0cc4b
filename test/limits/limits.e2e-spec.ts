import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { eventInput, industryEventInput } from '../support/builders';
import { Lanyard, startLanyard, Tenant, withTenant } from '../support/lanyard';

const SLOW = { maxTokens: 2, refillRate: 0.001 };

describe('limits', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  beforeAll(async () => void ([lanyard, tenant] = await withTenant(startLanyard())));

  const headers = ({ headers: h }: Response) => ({
    limit: h['x-ratelimit-limit'],
    remaining: h['x-ratelimit-remaining'],
    reset: Number(h['x-ratelimit-reset']) - Math.floor(Date.now() / 1000),
    retryAfter: h['retry-after'],
  });
  const near = (seconds: number) => ({
    asymmetricMatch: (actual: unknown) => typeof actual === 'number' && Math.abs(actual - seconds) <= 3,
  });

  it('tells of the bucket on every answer, and refuses when it is empty', async () => {
    const { api } = await tenant.issueKey(SLOW);
    expect(headers(await api.get('/leads').expect(200))).toEqual({ limit: '2', remaining: '1', reset: near(1000) });
    expect(headers(await api.get('/events').expect(200))).toEqual({ limit: '2', remaining: '0', reset: near(2000) });
    const refused = await api.get('/leads').expect(429);
    expect(refused.body).toEqual({ status: 429, error: 'Too Many Requests' });
    expect(headers(refused)).toMatchObject({ limit: '2', remaining: '0', reset: near(2000) });
    expect(Number(refused.headers['retry-after'])).toEqual(near(1000));
    await api.get('/nothing').expect(429);
    await api.post('/leads', {}).expect(429);
  });

  it.each([
    ['a success', 200, (t: Tenant['api']) => t.get('/leads')],
    ['a bad query', 400, (t: Tenant['api']) => t.get('/leads?limit=x')],
    ['a bad path', 400, (t: Tenant['api']) => t.get('/leads/x')],
    ['a bad body', 400, (t: Tenant['api']) => t.post('/leads', {})],
    ['an unknown resource', 404, (t: Tenant['api']) => t.get('/events/9007199254740991')],
    ['an unknown path', 404, (t: Tenant['api']) => t.get('/nothing')],
    ['a body too large', 413, (t: Tenant['api']) => t.post('/leads', { text: 'x'.repeat(1_048_577) })],
  ])('costs one token for %s', async (_, status, send) => {
    const { api } = await tenant.issueKey(SLOW);
    const first = await send(api).expect(status);
    expect(headers(first)).toMatchObject({ limit: '2', remaining: '1' });
    expect(first.headers['retry-after']).toBeUndefined();
    expect(headers(await send(api).expect(status))).toMatchObject({ remaining: '0' });
    await send(api).expect(429);
  });

  it('costs nothing without a valid key, which has no bucket', async () => {
    const { api, key } = await tenant.issueKey(SLOW);
    for (const wrong of [undefined, '', 'x', `${key}x`]) {
      const { headers: sent } = await lanyard.client(wrong).get('/leads');
      expect(Object.keys(sent).filter((name) => /ratelimit|retry/.test(name))).toEqual([]);
    }
    expect(headers(await api.get('/leads').expect(200)).remaining).toBe('1');
  });

  it('is of each key alone', async () => {
    const [a, b] = [await tenant.issueKey(SLOW), await tenant.issueKey(SLOW)];
    for (const status of [200, 200, 429]) await a.api.get('/leads').expect(status);
    await b.api.get('/leads').expect(200);
  });

  it('is 20 at once by default, and one a second', async () => {
    const { api } = await (await lanyard.tenant({ maxTokens: 20, refillRate: 1 })).issueKey({});
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.get('/leads?limit=1').expect(200)));
    expect(answers.map(headers)).toContainEqual(expect.objectContaining({ limit: '20', remaining: '19' }));
    // Each token puts off the moment at which the bucket is full by the time that one takes, however long all this took.
    const resets = answers.map(({ headers: h }) => Number(h['x-ratelimit-reset']));
    expect(Math.max(...resets) - Math.min(...resets)).toBe(19);
  });

  it('admits exactly as many of many requests at once', async () => {
    const { api } = await tenant.issueKey({ maxTokens: 20, refillRate: 0.001 });
    const answers = await Promise.all(Array.from({ length: 100 }, () => api.get('/leads?limit=1')));
    const admitted = answers.filter(({ status }) => status === 200);
    expect(admitted).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(80);
    const left = admitted.map(({ headers: h }) => Number(h['x-ratelimit-remaining'])).sort((x, y) => x - y);
    expect(left).toEqual(Array.from({ length: 20 }, (_, index) => index));
  });

  it('leave room for the longest eventUrl there may be, percent-encoded', async () => {
    const start = `http://${randomUUID()}.example/`;
    const eventUrl = start + '😀'.repeat(2048 - start.length);
    const { id } = (await tenant.api.post('/industryEvents', industryEventInput({ eventUrl })).expect(200)).body.results
      .industryEvent;
    const { body } = await tenant.api.get(`/industryEvents?eventUrl=${encodeURIComponent(eventUrl)}`).expect(200);
    expect(body.results.industryEvents).toMatchObject([{ id }]);
  });

  it('changes nothing when it refuses', async () => {
    const { api } = await tenant.issueKey({ maxTokens: 1, refillRate: 0.001 });
    const { total } = (await tenant.api.get('/events')).body.results;
    await api.post('/events', eventInput()).expect(200);
    await api.post('/events', eventInput()).expect(429);
    expect((await tenant.api.get('/events')).body.results.total).toBe(total + 1);
  });
});
