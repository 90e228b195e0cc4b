import { ApiKeysService } from '../../src/access/api-keys.service';
import { generateKey } from '../../src/access/key-format';
import { exchange } from '../support/connection';
import { Lanyard, startInProcess, startLanyard, Tenant, withTenant } from '../support/lanyard';
import { describeInside, INSIDE } from '../support/skipping';

const UNAUTHORIZED = { status: 401, error: 'Unauthorized' };
const FORBIDDEN = { status: 403, error: 'Forbidden' };
/** known, unknown, the prefix itself, and paths whose percent-encoding is broken */
const PATHS = ['/leads', '/leads/x', '/nothing/here', '', '/', '//', '/leads/%zz', '/%ff'];

describe('access', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  beforeAll(async () => void ([lanyard, tenant] = await withTenant(startLanyard())));

  /** A request with headers as they stand, also twice. */
  const raw = async (path: string, headers: Record<string, string | string[]>) => {
    const { status, body } = await exchange(lanyard.baseUrl + path, { headers });
    return { status, body: JSON.parse(String(body)) as unknown };
  };

  describe.each(PATHS)('%s', (path) => {
    it.each([undefined, '', ' ', '\t ', '\u00a0'])('is 401 with the key %j', async (key) => {
      const answer = await raw(path, key === undefined ? {} : { 'x-api-key': key });
      expect(answer).toEqual({ status: 401, body: UNAUTHORIZED });
    });

    it.each([
      ['x', 'x'],
      ['lan_', 'lan_'],
      ['of nobody', generateKey()],
      ['with a false checksum', generateKey().replace(/.$/, (last) => (last === '0' ? '1' : '0'))],
      ['in lower case', generateKey().toLowerCase()],
      ['of 4,000 characters', 'a'.repeat(4000)],
      ["' or 1=1 --", "' or 1=1 --"],
    ])('is 403 with the key %s', async (_, key) => {
      expect(await raw(path, { 'x-api-key': key })).toEqual({ status: 403, body: FORBIDDEN });
    });

    it('is 403 with the header twice', async () => {
      for (const keys of [
        [tenant.key, tenant.key],
        [tenant.key, ''],
      ]) {
        expect(await raw(path, { 'x-api-key': keys })).toEqual({ status: 403, body: FORBIDDEN });
      }
    });
  });

  it.each(['get', 'post', 'put', 'patch', 'delete'] as const)(
    'comes before everything else of a %s',
    async (method) => {
      for (const path of ['/leads/x?limit=x', '/events/x', '/nothing']) {
        expect((await lanyard.client().send(method, path, { broken: true }).expect(401)).body).toEqual(UNAUTHORIZED);
        expect((await lanyard.client('x').send(method, path, { broken: true }).expect(403)).body).toEqual(FORBIDDEN);
      }
    },
  );

  it('lets a valid key in, in any letter case of the header', async () => {
    expect((await raw('/leads', { 'X-API-KEY': tenant.key })).status).toBe(200);
    expect((await raw('/nothing/here', { 'X-Api-Key': tenant.key })).body).toEqual({ status: 404, error: 'Not Found' });
    expect((await raw('/leads/%zz', { 'x-api-key': tenant.key })).body).toEqual({ status: 400, error: 'Bad Request' });
    expect((await raw('/%ff', { 'x-api-key': tenant.key })).status).toBe(404);
  });

  it('does not take a key from elsewhere', async () => {
    expect((await raw(`/leads?x-api-key=${tenant.key}`, { authorization: `Bearer ${tenant.key}` })).status).toBe(401);
  });

  it('refuses a key that has expired', async () => {
    const { api } = await tenant.issueKey({ expiresAt: new Date('2020-01-01') });
    expect((await api.get('/leads').expect(403)).body).toEqual(FORBIDDEN);
    const { api: later } = await tenant.issueKey({ expiresAt: new Date('2100-01-01') });
    await later.get('/leads').expect(200);
  });

  it('names each request, and keeps a sound name', async () => {
    const { headers } = await lanyard.client().get('/leads');
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    for (const sound of ['sync-17.a', 'a', 'a:b_C.9', 'x'.repeat(128)]) {
      const { headers: kept } = await tenant.api.get('/leads').set('X-Request-Id', sound);
      expect(kept['x-request-id']).toBe(sound);
    }
    for (const unsound of ['a b<c>', '', '<a', 'a>', 'x'.repeat(129)]) {
      const { headers: made } = await tenant.api.get('/leads').set('X-Request-Id', unsound);
      expect(made['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('leaves health to everybody', async () => {
    const ask = (path: string) => fetch(new URL(path, lanyard.baseUrl));
    expect((await ask('/health/live')).status).toBe(200);
    expect(await (await ask('/health/ready')).json()).toMatchObject({ status: 'ok' });
    expect((await ask('/health')).status).toBe(404);
  });
});

describeInside(`revocation${INSIDE}`, () => {
  it('is in force 5 s later, when what was remembered has expired', async () => {
    const inside = await startInProcess();
    const tenant = await inside.tenant();
    await tenant.api.get('/leads').expect(200);
    await inside.app.get(ApiKeysService).revoke(tenant.keyId);
    const now = performance.now.bind(performance);
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + 5_000);
    await tenant.api.get('/leads').expect(403);
    clock.mockRestore();
  });
});

describeInside(`pages of other origins${INSIDE}`, () => {
  const PREFLIGHT = {
    'Access-Control-Request-Method': 'PATCH',
    'Access-Control-Request-Headers': 'x-api-key,content-type',
  };
  const ask = (url: string, method: string, origin: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/leads`, { method, headers: { origin, ...headers } });
  const allowed = ({ headers }: Response) =>
    Object.fromEntries([...headers].filter(([name]) => /^(access-control-|vary)/.test(name)));

  it('read nothing, and preflights have no key, unless a setting names them', async () => {
    const inside = await startInProcess();
    const { key } = await inside.tenant();
    const answer = await ask(inside.baseUrl, 'GET', 'https://booth.example', { 'x-api-key': key });
    expect([answer.status, allowed(answer)]).toEqual([200, {}]);
    expect((await ask(inside.baseUrl, 'OPTIONS', 'https://booth.example', PREFLIGHT)).status).toBe(401);
  });

  it('read everything where it does, errors too, and others nothing', async () => {
    const inside = await startInProcess({ corsOrigins: ['https://booth.example', 'https://crm.example'] });
    const { key } = await inside.tenant();
    const readable = {
      'access-control-allow-origin': 'https://booth.example',
      'access-control-expose-headers': '*',
      vary: 'Origin',
    };
    const answer = await ask(inside.baseUrl, 'GET', 'https://booth.example', { 'x-api-key': key });
    expect([answer.status, allowed(answer)]).toEqual([200, readable]);
    const refused = await ask(inside.baseUrl, 'GET', 'https://booth.example');
    expect([refused.status, allowed(refused)]).toEqual([401, readable]);
    const document = await fetch(new URL('/openapi.json', inside.baseUrl), {
      headers: { origin: 'https://booth.example' },
    });
    expect([document.status, allowed(document)]).toEqual([200, readable]);
    const preflight = await ask(inside.baseUrl, 'OPTIONS', 'https://booth.example', PREFLIGHT);
    expect([preflight.status, await preflight.text()]).toEqual([204, '']);
    expect(allowed(preflight)).toMatchObject({
      'access-control-allow-origin': 'https://booth.example',
      'access-control-allow-headers': 'x-api-key,content-type',
      'access-control-allow-methods': expect.stringContaining('PATCH') as string,
      'access-control-max-age': '600',
    });
    const other = await ask(inside.baseUrl, 'OPTIONS', 'https://elsewhere.example', PREFLIGHT);
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
  });
});
