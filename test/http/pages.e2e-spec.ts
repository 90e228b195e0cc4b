import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parse } from 'yaml';
import { exchange, openConnection, openRequest, received } from '../support/connection';
import { Lanyard, startInProcess, startLanyard } from '../support/lanyard';
import { DIRECT, INSIDE, itDirect, itInside } from '../support/skipping';

const CHECKED_IN = readFileSync(join(__dirname, '../../openapi.json'), 'utf8');
interface Operation {
  tags: string[];
  operationId: string;
}

describe('pages', () => {
  let lanyard: Lanyard;
  let origin: string;
  beforeAll(async () => {
    lanyard = await startLanyard();
    origin = new URL(lanyard.baseUrl).origin;
  });

  /** Read to its end: an answer of which something is left keeps its connection, and with it the server. */
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(origin + path, { headers });
    const { status } = answer;
    const content = await answer.text();
    return new Response(status === 304 ? null : content, { status, headers: answer.headers });
  };

  const raw = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    exchange(origin + path, { method, headers });

  it.each([
    ['/', ["style-src 'self'", "img-src 'self'"]],
    ['/docs', ["script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:"]],
  ])('%s is HTML, whose policy lets it load what it needs and nothing else', async (path, allowed) => {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toMatch(/^<!doctype html>/);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'content-security-policy': [
        ...["default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
        ...allowed,
      ].join(';'),
    });
  });

  it('begin with a curl command that works, at the address that the reader uses', async () => {
    const { key, api } = await lanyard.tenant();
    const html = await (await get('/')).text();
    const { url = '', header = '' } =
      /export KEY=YOUR_KEY\ncurl -H "(?<header>[\w-]+): \$KEY" '(?<url>[^']+)'/.exec(html)?.groups ?? {};
    expect(html).toContain(`<code>${lanyard.baseUrl}</code>`);
    expect(await (await fetch(url, { headers: { [header]: key } })).json()).toEqual(
      (await api.get('/leads?limit=1')).body,
    );
    expect(String((await raw('/', { host: 'crm.example.com:8443' })).body)).toContain(
      `${new URL(origin).protocol}//crm.example.com:8443/api/v0`,
    );
  });

  it('have links that work', async () => {
    const pages = await Promise.all(['/', '/docs'].map(async (path) => (await get(path)).text()));
    const links = new Set(
      pages.flatMap((html) => [...html.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, path]) => path)),
    );
    expect(links.size).toBeGreaterThan(4);
    for (const path of links) expect([path, (await get(path as string)).status]).toEqual([path, 200]);
  });

  itDirect.each(['"><script>', "x';curl y;'", 'a b', '$(id)'])(
    `show no Host that is none: %s${DIRECT}`,
    async (host) => {
      const { status, body } = await raw('/', { host });
      expect(status).toBe(200);
      expect(String(body)).toContain('http://localhost/api/v0');
      expect(String(body)).not.toContain(host);
    },
  );

  itDirect(`need no Host of HTTP/1.0${DIRECT}`, async () => {
    const socket = openConnection(origin);
    socket.end('GET / HTTP/1.0\r\n\r\n');
    expect(await received(socket)).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*http:\/\/localhost\/api\/v0/);
  });

  itInside(`say https where a trusted proxy does, and take nothing else from it${INSIDE}`, async () => {
    const proxied = await startInProcess({ trustProxy: 1 });
    const shown = async (proto: string): Promise<string> => {
      const headers = { 'x-forwarded-proto': proto, 'x-forwarded-host': 'leads.example.com' };
      return (await fetch(new URL('/', proxied.baseUrl), { headers })).text();
    };
    expect(await shown('https')).toContain('https://leads.example.com/api/v0');
    expect(await shown('"><script>')).toBe(await shown('http'));
    expect(await (await get('/', { 'x-forwarded-proto': 'https' })).text()).toBe(await (await get('/')).text());
  });

  it.each([
    ['docs.js', 'text/javascript'],
    ['icon.svg', 'image/svg+xml'],
    ['site.css', 'text/css'],
    ['swagger-ui.css', 'text/css'],
    ['swagger-ui-bundle.js', 'text/javascript'],
  ])('load %s as %s, and ask for it each time', async (name, type) => {
    const { status, headers } = await get(`/assets/${name}`);
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      ...[200, `${type}; charset=utf-8`, 'no-cache'],
    ]);
  });

  it('list every operation, linked to where it can be tried out', async () => {
    const html = await (await get('/docs')).text();
    const listed = [...html.matchAll(/<a href="#\/([^/"]+)\/(\w+)"><code>([A-Z]+) ([^<]+)<\/code>/g)].map(
      ([, tag = '', operationId, method = '', path]) => [
        decodeURIComponent(tag),
        operationId,
        method.toLowerCase(),
        path,
      ],
    );
    const { paths } = JSON.parse(CHECKED_IN) as { paths: Record<string, Record<string, Operation>> };
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { tags, operationId }]) => [tags[0], operationId, method, path]),
    );
    expect(listed.sort()).toEqual(operations.sort());
  });

  it('give the description as it is checked in, as JSON and as YAML', async () => {
    const [json, yaml] = await Promise.all(['/openapi.json', '/openapi.yaml'].map((path) => get(path)));
    expect(json?.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await json?.text()).toBe(CHECKED_IN);
    expect(yaml?.headers.get('content-type')).toBe('application/yaml; charset=utf-8');
    expect(parse((await yaml?.text()) ?? '')).toEqual(JSON.parse(CHECKED_IN));
  });

  it.each(['/', '/docs', '/openapi.json', '/openapi.yaml', '/assets/swagger-ui-bundle.js'])(
    '%s is sent compressed, plain, without its body, or not again, as is asked',
    async (path) => {
      const plain = await raw(path);
      expect(plain.headers).not.toHaveProperty('content-encoding');
      expect(plain.headers.vary).toBe('Accept-Encoding');
      expect(Number(plain.headers['content-length'])).toBe(plain.body.length);

      const packed = await raw(path, { 'accept-encoding': 'br, gzip' });
      expect(packed.headers['content-encoding']).toBe('gzip');
      expect(packed.body.length).toBeLessThan(plain.body.length / 2);
      expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);

      const head = await raw(path, {}, 'HEAD');
      expect([head.status, head.headers['content-length'], head.body.length]).toEqual([
        200,
        plain.headers['content-length'],
        0,
      ]);

      const again = await raw(path, { 'if-none-match': String(plain.headers.etag) });
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, plain.headers.etag]);
      expect((await raw(path, { 'if-none-match': 'W/"another"' })).status).toBe(200);
    },
  );

  it.each(['/', '/docs', '/openapi.json', '/openapi.yaml', '/assets/site.css'])('%s is only read', async (path) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const { status, headers, body } = await raw(path, {}, method);
      expect([status, headers.allow, JSON.parse(String(body))]).toEqual([
        405,
        'GET, HEAD',
        { status: 405, error: 'Method Not Allowed' },
      ]);
    }
  });

  itDirect(`are refused before a body has come${DIRECT}`, async () => {
    const headers = { 'content-length': '10', 'content-type': 'application/json' };
    const sent = openRequest(`${origin}/docs`, { method: 'POST', headers });
    sent.flushHeaders();
    const [{ statusCode }] = (await once(sent, 'response')) as [IncomingMessage];
    sent.destroy();
    expect(statusCode).toBe(405);
  });

  it.each([
    '/assets',
    '/assets/',
    '/assets/home.html',
    '/assets/package.json',
    '/assets/constructor',
    '/assets/..%2fhome.html',
    '/assets/..%2f..%2f..%2f..%2fpackage.json',
    '/docs/nothing',
    '/openapi',
    '/favicon.ico',
  ])('are not %s', async (path) => {
    const { status, headers, body } = await raw(path);
    expect([status, JSON.parse(String(body))]).toEqual([404, { status: 404, error: 'Not Found' }]);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
    });
  });

  it('cost no token, and mind no key', async () => {
    const { key, api } = await lanyard.tenant({ maxTokens: 1, refillRate: 0.001 });
    for (const path of ['/', '/docs', '/openapi.json', '/openapi.yaml', '/assets/site.css']) {
      const answer = await get(path, { 'x-api-key': key });
      expect([answer.status, answer.headers.get('x-ratelimit-limit')]).toEqual([200, null]);
      expect((await get(path, { 'x-api-key': 'x' })).status).toBe(200);
    }
    await api.get('/leads').expect(200);
    await api.get('/leads').expect(429);
  });
});
