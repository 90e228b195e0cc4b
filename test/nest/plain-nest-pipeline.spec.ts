import { type PlainServer, startWithModules } from '../support/plain-modules';
import { steps, hooks, RoomsModule } from './fixtures/plain-nest-pipeline';

describe('the pipeline around a plain module', () => {
  let server: PlainServer;
  beforeAll(async () => void (server = await startWithModules([RoomsModule], 'debug')));
  beforeEach(() => void steps.splice(0));

  const results = async (path: string) => {
    const { status, body } = await server.send('GET', path);
    return [status, body?.results];
  };

  it('runs middleware, guards, interceptors and pipes in this order, those of Lanyard first', async () => {
    const { body } = await server.send('POST', '/rooms/steps/7', { body: { name: 'North' } });
    expect(body?.results).toEqual({ id: '7', organizationId: server.organizationId, hasAgent: true });
    expect(steps).toEqual([
      'middleware undefined',
      'global guard undefined object',
      'global interceptor undefined',
      'interceptor of the handler undefined',
      'global pipe',
    ]);
    steps.splice(0);
    const keyless = await server.send('POST', '/rooms/steps/7', { headers: { 'x-api-key': 'x' }, body: {} });
    expect([keyless.status, steps]).toEqual([403, ['middleware undefined']]);
  });

  it('has guards of a handler, whose refusal is Nest’s', async () => {
    const { body } = await server.send('GET', '/rooms/admin');
    expect(body).toEqual({ status: 403, error: 'Forbidden resource' });
  });

  it('has interceptors of a handler within the envelope', async () => {
    expect(await results('/rooms/transformed')).toEqual([200, { data: ['North'] }]);
    expect((await server.send('GET', '/rooms/slow')).status).toBe(410);
  });

  it('keeps the body that a filter of the module makes, and catches what none of its filters does', async () => {
    const booked = await server.send('GET', '/rooms/booked');
    expect([booked.status, booked.body]).toEqual([409, { code: 'BOOKED', until: '2026-05-04' }]);
    const filtered = await server.send('GET', '/rooms/filtered');
    expect([filtered.status, filtered.body]).toEqual([403, { statusCode: 403, path: '/api/v0/rooms/filtered' }]);
  });

  it.each([
    ['conflict', 409, 'The room is booked'],
    ['described', 400, 'Something bad happened'],
    ['object', 403, 'Forbidden'],
    ['list', 400, 'too small, too dark'],
    ['bare', 401, 'Unauthorized'],
    ['wrapped', 409, 'Conflict'],
    ['teapot', 418, 'I am a teapot'],
    ['server', 500, 'Internal Server Error'],
    ['unavailable', 503, 'Service Unavailable'],
    ['plain', 500, 'Internal Server Error'],
  ])('sends the text of an exception below 500: %s', async (name, status, error) => {
    server.takeLog();
    expect((await server.send('GET', `/rooms/errors/${name}`)).body).toEqual({ status, error });
  });

  it('logs the text of an exception with its request', async () => {
    server.takeLog();
    await server.send('GET', '/rooms/errors/conflict');
    await server.send('GET', '/rooms/nothing');
    expect(server.takeLog().filter(({ route }) => route)).toEqual([
      expect.objectContaining({ status: 409, error: 'The room is booked' }),
      expect.not.objectContaining({ error: expect.anything() as unknown }),
    ]);
  });

  it('repeats no path that is unknown', async () => {
    const outside = await fetch(`${new URL(server.baseUrl).origin}/no/such/path?secret=1`);
    expect(await outside.json()).toEqual({ status: 404, error: 'Not Found' });
  });

  it('logs at the level that the module asked for', async () => {
    server.takeLog();
    await server.send('GET', '/rooms/log');
    const lines = server.takeLog().filter(({ route }) => !route);
    const part = 'RoomsController';
    expect(lines).toEqual([
      expect.objectContaining({ level: 'debug', message: 'debugging', part }),
      expect.objectContaining({ level: 'info', message: 'logged', part }),
      expect.objectContaining({ level: 'warn', message: 'warned', part }),
      expect.objectContaining({ level: 'error', message: 'went wrong', stack: 'at a stack', part }),
      expect.objectContaining({ level: 'error', message: 'an error', part }),
      expect.objectContaining({ level: 'fatal', message: 'ended', part }),
      expect.objectContaining({ level: 'info', message: 'of fields', room: 5 }),
    ]);
  });

  it('makes providers and controllers of the scope of a request for each of them', async () => {
    const scoped = { organizationId: server.organizationId, calls: 1 };
    expect(await results('/scoped')).toEqual([200, scoped]);
    expect(await results('/scoped')).toEqual([200, scoped]);
    const headers = { 'idempotency-key': 'scoped-1' };
    for (const replayed of [null, 'true']) {
      const { body, headers: sent } = await server.send('POST', '/scoped/5', { headers });
      expect([body?.results, sent.get('idempotency-replayed')]).toEqual([{ id: '5', calls: 1 }, replayed]);
    }
  });

  it('has middleware that refuses, or reads a body of another type', async () => {
    const { body } = await server.send('GET', '/rooms/door');
    expect(body).toEqual({ status: 403, error: 'Not through this door' });
    for (const path of ['/forms', '/forms/body']) {
      const form = await server.send('POST', path, {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'name=North&seats=5',
      });
      expect(form.body?.results).toEqual({ name: 'North', seats: '5' });
    }
  });

  it('has versions in the path, with @Version()', async () => {
    expect(await results('/v1/versioned')).toEqual([200, 1]);
    expect(await results('/v2/versioned')).toEqual([200, 2]);
    expect(await results('/versioned/neutral')).toEqual([200, 'neutral']);
    expect(await results('/v3/versioned/neutral')).toEqual([200, 'neutral']);
    expect((await results('/versioned'))[0]).toBe(404);
  });

  it('calls the hooks of the lifecycle', async () => {
    expect(hooks).toEqual(['onModuleInit', 'onApplicationBootstrap']);
    await server.stop();
    expect(hooks.slice(2)).toEqual(['onModuleDestroy', 'beforeApplicationShutdown', 'onApplicationShutdown']);
  });
});
