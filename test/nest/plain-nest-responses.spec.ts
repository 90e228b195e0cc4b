import { type PlainServer, startWithModules } from '../support/plain-modules';
import { CatsController, CatsModule } from './fixtures/plain-nest-responses';

describe('a response of a plain module', () => {
  let server: PlainServer;
  beforeAll(async () => void (server = await startWithModules([CatsModule])));

  it.each([
    ['an object', 'object', { name: 'Tom', age: 3 }],
    ['an array', 'array', ['Tom', 'Kitty']],
    ['a text', 'text', 'This action returns all cats'],
    ['nothing', 'nothing', {}],
    ['an Observable', 'observable', ['Tom']],
    ['an object with items and a total', 'totals', { id: 7, items: ['Tom', 'Kitty'], total: 2 }],
    ['texts with the keys of a page', 'texts', { limit: 20, offset: 0, items: ['Tom', 'Kitty'], total: 2 }],
  ])('holds %s in the envelope as the handler returned it', async (_, path, results) => {
    const { status, body } = await server.send('GET', `/cats/${path}`);
    expect([status, body]).toEqual([200, { status: 200, results }]);
  });

  it('has the status of @HttpCode(), the headers of @Header(), and no body with 204', async () => {
    const created = await server.send('POST', '/cats/created', { body: { name: 'Tom' } });
    expect([created.status, created.body]).toEqual([201, { status: 201, results: { name: 'Tom' } }]);
    expect(created.headers.get('cache-control')).toBe('no-store');
    const empty = await server.send('POST', '/cats/no-content');
    expect([empty.status, empty.text]).toEqual([204, '']);
    const key = { 'idempotency-key': 'no-content-1' };
    for (const replayed of [null, 'true']) {
      const { status, text, headers } = await server.send('POST', '/cats/no-content', { headers: key });
      expect([status, text, headers.get('idempotency-replayed')]).toEqual([204, '', replayed]);
    }
  });

  it('has in its body the status that the handler set by @Res({ passthrough: true })', async () => {
    const { status, body } = await server.send('GET', '/cats/status');
    expect([status, body]).toEqual([202, { status: 202, results: [] }]);
  });

  it.each(['csv', 'passthrough-csv'])('is sent as it is with a Content-Type of its own: %s', async (path) => {
    const { status, text, headers } = await server.send('GET', `/cats/${path}`);
    expect([status, text]).toEqual([200, 'name,age\nTom,3\n']);
    expect(headers.get('content-type')).toContain('text/csv');
  });

  it('may be a file, with its own type and disposition', async () => {
    const { status, text, headers } = await server.send('GET', '/cats/file');
    expect([status, text]).toEqual([200, '%PDF-1.7']);
    expect(headers.get('content-type')).toBe('application/pdf');
    expect(headers.get('content-disposition')).toBe('attachment; filename="cat.pdf"');
    const json = await server.send('GET', '/cats/json-file');
    expect([json.status, json.text]).toEqual([200, '{"a":1}']);
    expect(json.headers.get('content-type')).toContain('application/json');
  });

  it('may be a stream or a Response of the web', async () => {
    expect((await server.send('GET', '/cats/stream')).text).toBe('{"name":"Tom"}\n{"name":"Kitty"}\n');
    const web = await server.send('GET', '/cats/web');
    expect([web.status, web.text, web.headers.get('x-cat')]).toEqual([203, 'meow', 'Tom']);
  });

  it('may be written by the handler, with @Res()', async () => {
    const { status, body } = await server.send('GET', '/cats/own');
    expect([status, body]).toEqual([418, ['Tom']]);
  });

  it('may be a stream of events, which ends when its client leaves', async () => {
    const { headers, text } = await server.send('GET', '/cats/sse');
    expect(headers.get('content-type')).toContain('text/event-stream');
    expect(text.match(/^data: .*$/gm)).toEqual(['data: {"hello":0}', 'data: {"hello":1}', 'data: {"hello":2}']);

    const controller = server.app.get(CatsController);
    const left = new Promise<void>((resolve) => {
      Object.defineProperty(controller, 'disconnected', { get: () => 0, set: () => resolve() });
    });
    const leave = new AbortController();
    const { key } = await server.tenant();
    const response = await fetch(`${server.baseUrl}/cats/endless`, {
      headers: { 'x-api-key': key },
      signal: leave.signal,
    });
    await response.body?.getReader().read();
    leave.abort();
    await left;
  });

  it.each([
    ['', 302, 'https://docs.nestjs.com'],
    ['?version=5', 301, 'https://docs.nestjs.com/v5/'],
  ])('may redirect: /cats/docs%s', async (query, status, location) => {
    const response = await server.send('GET', `/cats/docs${query}`);
    expect([response.status, response.headers.get('location')]).toEqual([status, location]);
  });

  it('is found under each path of its controller', async () => {
    for (const path of ['/birds', '/animals/birds']) {
      expect((await server.send('GET', path)).body).toEqual({ status: 200, results: ['Tweety'] });
    }
  });

  it('is that of each controller where a handler of a base class is in several', async () => {
    for (const path of ['finches', 'robins']) {
      const { body } = await server.send('GET', `/${path}`);
      expect(body?.results).toEqual({ [path]: [{ name: 'Tweety' }], total: 1 });
    }
    expect((await server.send('GET', '/wrens')).body).toMatchObject({ items: [{ name: 'Tweety' }] });
  });

  it('is that of Nest, without an envelope, with @Plain() on its handler or controller', async () => {
    const created = await server.send('POST', '/cats/plain', { body: { name: 'Tom' } });
    expect([created.status, created.body]).toEqual([201, { name: 'Tom' }]);
    const listed = await server.send('GET', '/dogs');
    expect([listed.status, listed.body]).toEqual([200, ['Rex']]);
    const headers = { 'idempotency-key': 'plain-1' };
    const once = await server.send('POST', '/cats/plain', { body: { name: 'Tom' }, headers });
    expect([once.status, once.headers.get('lanyard-fault')]).toEqual([400, 'header Idempotency-Key']);
  });
});
