import type { Test } from 'supertest';
import { eventInput, industryEventInput, leadInput, phone } from '../support/builders';
import { ENDPOINTS, send } from '../support/endpoints';
import { Lanyard, startLanyard, Tenant, withTenant } from '../support/lanyard';

const STRICT = 'handling=strict';
const strict = (request: Test, prefer = STRICT): Test => request.set('Prefer', prefer);
const BAD_REQUEST = { status: 400, error: 'Bad Request' };

describe('a strict request', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  let api: Tenant['api'];
  beforeAll(async () => {
    [lanyard, tenant] = await withTenant(startLanyard());
    api = tenant.api;
  });

  it('is answered as any other when all of it is known', async () => {
    const remoteId = { id: 'w-1', integrationType: 'WEBHOOK' };
    const { body } = await strict(api.post('/leads', leadInput({ phoneNumbers: [phone()] }))).expect(200);
    const path = `/leads/${body.results.id}`;
    const lead = leadInput({ remoteId, phoneNumbers: [phone()] });
    const event = (await strict(api.post('/events', eventInput())).expect(200)).body.results.id as number;
    const requests = [
      api.patch(path, { remoteId, phoneNumbers: [phone()], jobTitle: null }),
      api.get('/leads', { limit: 5, offset: 0, email: 'a@example.com' }),
      api.get('/leads', { remoteId: 'w-1', integrationType: 'WEBHOOK' }),
      api.get('/industryEvents', { q: 'pumps', eventUrl: 'x' }),
      api.post('/leads/batch', { matchBy: 'remoteId', leads: [lead] }),
      api.post('/industryEvents', industryEventInput()),
      api.put(`/events/${event}/leads`, { eventLeads: [{ leadId: body.results.id, checkedIn: true }] }),
      api.get(path),
    ];
    for (const request of requests) {
      const { headers } = await strict(request).expect(200);
      expect(headers['preference-applied']).toBe(STRICT);
    }
  });

  it.each(ENDPOINTS.filter(({ method }) => method === 'get'))(
    'with an unknown parameter is 400, before its path is looked at: $name',
    async (endpoint) => {
      const ids = Object.fromEntries(endpoint.slots.map(({ name }) => [name, 'none']));
      const { body, headers } = await strict(send(api, endpoint, ids, undefined, { emial: 'a@example.com' }));
      expect([body, headers['lanyard-fault']]).toEqual([BAD_REQUEST, 'query emial']);
      expect(headers['preference-applied']).toBe(STRICT);
    },
  );

  it.each(ENDPOINTS.filter(({ bodies }) => bodies[0]?.({})))(
    'with an unknown field is 400 and names it, before its path and other fields are looked at: $name',
    async (endpoint) => {
      const ids = Object.fromEntries(endpoint.slots.map(({ name }) => [name, 'none']));
      const { body, headers } = await strict(send(api, endpoint, ids, () => ({ naem: 'x' }))).expect(400);
      expect(body).toEqual({ status: 400, error: "Missing or invalid 'naem'" });
      expect(headers['lanyard-fault']).toBe('body naem');
    },
  );

  it.each<[string, string, object]>([
    ['b', '/leads', { firstName: '', b: 1, a: 2 }],
    ['phoneNumbers[1].b', '/leads', { phoneNumbers: [phone(), { b: 1 }], a: 2 }],
    ['a', '/leads', { a: 2, phoneNumbers: [{ b: 1 }] }],
    ['leads[1].remoteId.typ', '/leads/batch', { leads: [leadInput(), { remoteId: { id: 'x', typ: 'x' } }] }],
    ['leads[0].phoneNumbers[0].typ', '/leads/batch', { matchBy: 'none', leads: [{ phoneNumbers: [{ typ: 'x' }] }] }],
    ['__proto__', '/leads', JSON.parse('{"__proto__": {}}') as object],
    ['constructor', '/leads', { constructor: 1 }],
    ['firstname', '/leads', { firstname: 'Ada' }],
  ])('names the first unknown field in the order of the body: %s of %s', async (field, path, body) => {
    await strict(api.post(path, body)).expect(400, { status: 400, error: `Missing or invalid '${field}'` });
  });

  it('does not mind what stands where no object is expected', async () => {
    const refusal = { status: 400, error: "Missing or invalid 'phoneNumbers'" };
    await strict(api.post('/leads', leadInput({ phoneNumbers: { a: 1 } }))).expect(400, refusal);
    await strict(api.post('/leads', leadInput({ phoneNumbers: 'x' }))).expect(400, refusal);
    await strict(api.post('/leads', leadInput({ firstName: { a: 1 } }))).expect(400, {
      ...refusal,
      error: "Missing or invalid 'firstName'",
    });
  });

  it('keeps what may be personal out of the header: a name of a client that is no name', async () => {
    const query = await strict(api.get('/leads', { 'ada@example.com': '' })).expect(400);
    expect(query.headers['lanyard-fault']).toBe('query');
    const name = 'Ada Rowe'.repeat(1000);
    const { body, headers } = await strict(api.post('/leads', { [name]: 1 })).expect(400);
    expect([headers['lanyard-fault'], body.error]).toEqual(['body', `Missing or invalid '${name.slice(0, 200)}'`]);
  });

  it.each(['handling=strict, return=minimal', 'wait=1, HANDLING="Strict"', 'handling=strict, @'])(
    'with an unknown preference is 400: %s',
    async (prefer) => {
      const { headers } = await strict(api.get('/leads'), prefer).expect(400, BAD_REQUEST);
      expect(headers['lanyard-fault']).toBe('header Prefer');
      expect(headers['preference-applied']).toBe(STRICT);
    },
  );

  it.each(['handling=lenient, handling=strict', 'handling=nonsense', 'handling', 'return=minimal'])(
    'is none without the first handling being strict: %s',
    async (prefer) => {
      await strict(api.get('/leads', { emial: 'x' }), prefer).expect(200);
      await strict(api.post('/leads', leadInput({ a: 1 })), prefer).expect(200);
    },
  );

  it('for a path that is unknown is 404, unless it has a query, of which nothing is known either', async () => {
    await strict(api.get('/nothing')).expect(404);
    await strict(api.post('/nothing', { a: 1 })).expect(404);
    await strict(api.get('/nothing', { a: 1 })).expect(400, BAD_REQUEST);
  });

  it('is refused after the key and the token', async () => {
    await strict(lanyard.client().get('/leads', { emial: 'x' })).expect(401);
    const { api: limited } = await tenant.issueKey({ maxTokens: 1, refillRate: 0.001 });
    await strict(limited.get('/leads', { emial: 'x' })).expect(400);
    await strict(limited.get('/leads', { emial: 'x' })).expect(429);
  });

  it('with 20,000 unknown values, or a batch of 200, is checked without delay', async () => {
    const leads = Array.from({ length: 200 }, () => leadInput({ phoneNumbers: [phone(), phone()] }));
    await strict(api.post('/leads/batch', { matchBy: 'none', leads })).expect(200);
    const unknown = Object.fromEntries(Array.from({ length: 19_990 }, (_, n) => [`u${n}`, n]));
    await strict(api.post('/leads', unknown)).expect(400, { status: 400, error: "Missing or invalid 'u0'" });
  });
});
