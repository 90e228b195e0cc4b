import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { eventInput, leadInput } from '../support/builders';
import { exchange, openRequest } from '../support/connection';
import { Lanyard, startLanyard, Tenant, withTenant } from '../support/lanyard';
import { DIRECT, itDirect } from '../support/skipping';

const LARGEST_BODY = 1_048_576;

describe('envelope', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  beforeAll(async () => void ([lanyard, tenant] = await withTenant(startLanyard())));

  it('is of status 200 for every success, a POST too, and says so in the body', async () => {
    const { body, headers } = await tenant.api.post('/leads', leadInput()).expect(200);
    expect(Object.keys(body)).toEqual(['status', 'results']);
    expect(body.status).toBe(200);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['content-length']).toBeDefined();
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('etag');
  });

  it('wraps a list with its pagination', async () => {
    const { body } = await tenant.api.get('/events').expect(200);
    expect(Object.keys(body)).toEqual(['status', 'pagination', 'results']);
    expect(Object.keys(body.results)).toEqual(['events', 'total']);
  });

  it.each([
    ['post', '/nothing'],
    ['get', '/events/1/nothing'],
    ['delete', '/leads'],
    ['patch', '/events'],
    ['put', '/leads/x/y/z'],
    ['get', ''],
    ['get', '//leads'],
    ['get', '/leads/'],
    ['get', '/LEADS'],
  ] as const)('is an error for %s %s', async (method, path) => {
    const { body, headers } = await tenant.api.send(method, path).expect(404);
    expect(body).toEqual({ status: 404, error: 'Not Found' });
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('is an error outside the prefix too, without a key', async () => {
    const response = await fetch(new URL('/nothing', lanyard.baseUrl));
    expect([response.status, await response.json()]).toEqual([404, { status: 404, error: 'Not Found' }]);
  });

  it('carries the headers of an API that browsers and caches must not touch, also around errors', async () => {
    const { origin } = new URL(lanyard.baseUrl);
    const headers = { 'x-api-key': tenant.key };
    const answers = await Promise.all([
      fetch(`${lanyard.baseUrl}/leads`, { headers }),
      fetch(`${lanyard.baseUrl}/leads?limit=0`, { headers }),
      fetch(`${lanyard.baseUrl}/leads/%zz`, { headers }),
      fetch(`${lanyard.baseUrl}/leads`),
      fetch(`${lanyard.baseUrl}/leads`, { headers: { 'x-api-key': 'x' } }),
      fetch(`${origin}/health/live`),
      fetch(`${origin}/nothing`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 400, 401, 403, 200, 404]);
    for (const answer of answers) {
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none';frame-ancestors 'none'",
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'strict-transport-security': expect.stringMatching(/^max-age=\d{8}/),
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'x-request-id': expect.stringMatching(/^[\w.:-]{1,128}$/),
      });
    }
  });

  it('has no body for HEAD, but its length', async () => {
    const headers = { 'x-api-key': tenant.key };
    const response = await fetch(`${lanyard.baseUrl}/leads`, { method: 'HEAD', headers });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
    const body = await (await fetch(`${lanyard.baseUrl}/leads`, { headers })).text();
    expect(response.headers.get('content-length')).toBe(String(body.length));
  });

  /** A POST of an event with so many bytes of body. */
  const post = async (bytes: number, framing: Record<string, string>) => {
    const headers = { 'x-api-key': tenant.key, 'content-type': 'application/json', ...framing };
    const text = JSON.stringify(eventInput()).padEnd(bytes, ' ');
    const { status, body } = await exchange(`${lanyard.baseUrl}/events`, { method: 'POST', headers }, text);
    return { status, body: JSON.parse(String(body)) as unknown };
  };

  it.each([
    ['by its length', (bytes: number) => ({ 'content-length': String(bytes) })],
    ['in chunks', () => ({ 'transfer-encoding': 'chunked' })],
  ])('reads a body of 1 MiB and refuses a larger one, %s', async (_, framing) => {
    expect((await post(LARGEST_BODY, framing(LARGEST_BODY))).status).toBe(200);
    const { total } = (await tenant.api.get('/events')).body.results;
    const refused = await post(LARGEST_BODY + 1, framing(LARGEST_BODY + 1));
    expect(refused).toEqual({ status: 413, body: { status: 413, error: 'Payload Too Large' } });
    expect((await tenant.api.get('/events')).body.results.total).toBe(total);
  });

  it.each(['', 'identity', 'Identity'])('reads a body that is said to be encoded as "%s"', async (encoding) => {
    await tenant.api.post('/events', eventInput()).set('Content-Encoding', encoding).expect(200);
  });

  itDirect.each(['100-continue', '100-Continue'])(
    `is asked for the body by who waits with %s, after the key${DIRECT}`,
    async (waits) => {
      const ask = async (key: string): Promise<{ asked: boolean; status?: number }> => {
        const body = JSON.stringify(eventInput());
        const headers = { 'x-api-key': key, 'content-type': 'application/json', expect: waits };
        const length = { 'content-length': String(body.length) };
        const sent = openRequest(`${lanyard.baseUrl}/events`, { method: 'POST', headers: { ...headers, ...length } });
        let asked = false;
        sent.on('continue', () => {
          asked = true;
          sent.end(body);
        });
        sent.flushHeaders();
        const [{ statusCode: status }] = (await once(sent, 'response')) as [IncomingMessage];
        sent.destroy();
        return { asked, status };
      };
      expect(await ask(tenant.key)).toEqual({ asked: true, status: 200 });
      expect(await ask('x')).toEqual({ asked: false, status: 403 });
    },
  );

  const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });
  it('takes a body of 32 levels and refuses 33', async () => {
    await tenant.api.post('/events', eventInput({ unknown: nested(31) })).expect(200);
    await tenant.api
      .post('/events', eventInput({ unknown: nested(32) }))
      .expect(400, { status: 400, error: 'Bad Request' });
  });

  it('takes the last of two fields of one name', async () => {
    const text = JSON.stringify(eventInput({ eventName: 'first' })).replace(/\}$/, ',"eventName":"last"}');
    const sent = tenant.api.send('post', '/events').set('content-type', 'application/json').send(text);
    expect((await sent.expect(200)).body.results.name).toBe('last');
  });

  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON', 'application/merge-patch+json'])(
    'reads %s',
    async (type) => {
      const sent = tenant.api.send('post', '/events').set('content-type', type).send(JSON.stringify(eventInput()));
      await sent.expect(200);
    },
  );

  it('takes a body of another type, and no body, as empty', async () => {
    const named = { status: 400, error: "Missing or invalid 'eventName'" };
    const sent = tenant.api
      .send('post', '/events')
      .set('content-type', 'text/plain')
      .send(JSON.stringify(eventInput()));
    await sent.expect(400, named);
    await tenant.api.send('post', '/events').expect(400, named);
  });
});
