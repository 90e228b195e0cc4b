import { randomUUID } from 'node:crypto';
import { Test } from 'supertest';
import { eventInput, industryEventInput, leadInput } from '../support/builders';
import { ApiClient } from '../support/client';
import { openConnection, receiveAll } from '../support/connection';
import { startLanyard, Tenant, withTenant } from '../support/lanyard';
import { itDirect } from '../support/skipping';

const ID = randomUUID();

describe('a 400 names what is at fault in Lanyard-Fault', () => {
  let tenant: Tenant;
  beforeAll(async () => void ([, tenant] = await withTenant(startLanyard())));

  it.each([
    ['query limit', '/leads?limit=0'],
    ['query limit', '/leads?limit=5&limit=5'],
    ['query offset', '/events?limit=5&offset=-1'],
    ['query email', '/leads?email='],
    ['query remoteId', '/leads?integrationType=ZOHO'],
    ['query integrationType', '/leads?remoteId=1'],
    ['query leadId', '/leadActivityEvents?leadId=canary'],
    ['query q', `/industryEvents?q=${'canary%20'.repeat(99)}`],
    ['path leadId', '/leads/canary'],
    ['path eventId', '/events/canary/users'],
    ['path industryEventId', '/industryEvents/canary'],
  ])('%s: GET %s', async (fault, path) => {
    const { headers, body } = await tenant.api.get(path).expect(400);
    expect([body.error, headers['lanyard-fault']]).toEqual(['Bad Request', fault]);
  });

  type Send = (api: ApiClient) => Test;
  const raw = (test: Test, body: string): Test => test.serialize((text: unknown) => text as string).send(body);
  const create = (api: ApiClient, type = 'application/json') => api.post('/leads').set('content-type', type);
  it.each<[string, string, Send]>([
    ['path leadId', 'a path and a body', (api) => api.patch('/leads/canary', { email: 'canary' })],
    ['body', 'half an object', (api) => raw(create(api), '{"firstName": "canary"')],
    ['body', 'an array', (api) => create(api).send([leadInput()])],
    ['body', '33 levels', (api) => raw(create(api), `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`)],
    ['body', 'bytes that are not packed', (api) => create(api).set('content-encoding', 'gzip').send(leadInput())],
    ['header Content-Encoding', 'another coding', (api) => create(api).set('content-encoding', 'canary').send({})],
    [
      'header Content-Type',
      'another type, where no field is required',
      (api) => api.patch(`/leads/${ID}`).set('content-type', 'text/canary').send('canary'),
    ],
    ['header Idempotency-Key', 'a key', (api) => create(api).set('idempotency-key', 'a canary').send(leadInput())],
    ['header Content-Type', 'a body of another type', (api) => create(api, 'text/plain').send('canary')],
    ['body email', 'an address', (api) => api.post('/leads', leadInput({ email: 'canary' }))],
    [
      'body phoneNumbers[1].type',
      'a field in a list',
      (api) => api.post('/leads', leadInput({ phoneNumbers: [phone('MOBILE'), phone('canary')] })),
    ],
    ['body endDate', 'a day before another', (api) => api.post('/events', eventInput({ endDate: '1999-01-01' }))],
    ['body name', 'a null', (api) => api.post('/industryEvents', industryEventInput({ name: null }))],
    [
      'body leads[1].email',
      'a second one in a batch',
      (api) =>
        api.post('/leads/batch', {
          matchBy: 'email',
          leads: ['a@b.co', 'A@b.co'].map((email) => leadInput({ email })),
        }),
    ],
  ])('%s: %s', async (fault, _, send) => {
    const { headers } = await send(tenant.api).expect(400);
    expect(headers['lanyard-fault']).toBe(fault);
  });

  it('stands on no other response', async () => {
    expect((await tenant.api.get('/leads').expect(200)).headers).not.toHaveProperty('lanyard-fault');
    expect((await tenant.api.post('/leads', { x: Array(20_000).fill(1) }).expect(413)).headers).not.toHaveProperty(
      'lanyard-fault',
    );
  });

  itDirect.each([
    ['header Host', 'GET /api/v0/leads HTTP/1.1\r\n\r\n'],
    ['header Host', 'GET /api/v0/leads HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['target', 'GET http://[/ HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('%s: %j', async (fault, head) => {
    const socket = openConnection(tenant.api.baseUrl);
    socket.write(head);
    const response = await receiveAll(socket);
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(response).toContain(`\r\nLanyard-Fault: ${fault}\r\n`);
  });
});

const phone = (type: string) => ({ number: '1', type, preferred: false });
