import { randomUUID } from 'node:crypto';
import type { Test } from 'supertest';
import { eventInput, industryEventInput, leadInput, phone } from '../support/builders';
import type { ApiClient } from '../support/client';
import { type Lanyard, startLanyard, type Tenant, withTenant } from '../support/lanyard';

const UNKNOWN_ID = randomUUID();

/** What the headers of an error say. */
const faultIn = ({ headers }: { headers: Record<string, string> }) => [
  headers['lanyard-fault'],
  headers['lanyard-fault-reason'],
  headers['lanyard-fault-detail'],
];

describe('Lanyard-Fault-Reason says why', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  let leadId: string;
  let eventId: number;
  beforeAll(async () => {
    [lanyard, tenant] = await withTenant(startLanyard());
    leadId = (await tenant.api.post('/leads', leadInput()).expect(200)).body.results.id as string;
    eventId = (await tenant.api.post('/events', eventInput()).expect(200)).body.results.id as number;
  });

  const strict = (test: Test): Test => test.set('Prefer', 'handling=strict');
  const raw = (api: ApiClient, body: string, type = 'application/json'): Test =>
    api
      .post('/leads')
      .set('content-type', type)
      .serialize((text: unknown) => text as string)
      .send(body);

  it.each([
    ['/leads?limit=0', 'query limit', 'range'],
    ['/leads?offset=-1', 'query offset', 'range'],
    ['/leads?limit=five', 'query limit', 'format'],
    ['/leads?limit=', 'query limit', 'missing'],
    ['/leads?limit=5&limit=5', 'query limit', 'duplicate'],
    ['/leads?email=', 'query email', 'missing'],
    ['/leads?remoteId=1', 'query integrationType', 'missing'],
    ['/leadActivityEvents?leadId=x', 'query leadId', 'format'],
    ['/leadActivityEvents?eventType=x', 'query eventType', 'format'],
    [`/industryEvents?q=${'canary%20'.repeat(99)}`, 'query q', 'range'],
    ['/leads/x', 'path leadId', 'format'],
    ['/events/x', 'path eventId', 'format'],
    ['/events/0', 'path eventId', 'range'],
    ['/changes?cursor=x&since=now', 'query since', 'conflict'],
    ['/changes?cursor=x', 'query cursor', 'format'],
    ['/changes?resources=x', 'query resources', 'format'],
  ])('GET %s: %s is %s', async (path, fault, reason) => {
    expect(faultIn(await tenant.api.get(path).expect(400))).toEqual([fault, reason, undefined]);
  });

  it.each<[string, string, object]>([
    ['firstName', 'missing', { firstName: undefined }],
    ['firstName', 'missing', { firstName: null }],
    ['firstName', 'missing', { firstName: ' ' }],
    ['firstName', 'type', { firstName: 1 }],
    ['firstName', 'range', { firstName: 'x'.repeat(256) }],
    ['firstName', 'format', { firstName: 'a\0' }],
    ['email', 'format', { email: 'ada' }],
    ['phoneNumbers', 'type', { phoneNumbers: {} }],
    ['phoneNumbers[0]', 'type', { phoneNumbers: ['1'] }],
    ['phoneNumbers[1].type', 'format', { phoneNumbers: [phone(), { ...phone(), type: 'x' }] }],
    ['phoneNumbers[0].preferred', 'type', { phoneNumbers: [{ ...phone(), preferred: 'yes' }] }],
    ['phoneNumbers[0].number', 'missing', { phoneNumbers: [{ ...phone(), number: undefined }] }],
  ])('POST /leads: body %s is %s', async (field, reason, fields) => {
    const response = await tenant.api.post('/leads', leadInput(fields)).expect(400);
    expect(faultIn(response)).toEqual([`body ${field}`, reason, undefined]);
    expect(response.body.error).toBe(`Missing or invalid '${field}'`);
  });

  it.each<[string, string, (api: ApiClient) => Test]>([
    ['body endDate', 'range', (api) => api.post('/events', eventInput({ endDate: '1999-01-01' }))],
    ['body endDate', 'format', (api) => api.post('/events', eventInput({ endDate: '2026-02-30' }))],
    ['body eventType', 'format', (api) => api.post('/events', eventInput({ eventType: 'FAIR' }))],
    [
      'body leads',
      'range',
      (api) => api.post('/leads/batch', { matchBy: 'none', leads: Array(201).fill(leadInput()) }),
    ],
    ['query emial', 'unknown', (api) => strict(api.get('/leads?emial=x'))],
    ['body emial', 'unknown', (api) => strict(api.post('/leads', leadInput({ emial: 'x' })))],
    ['header Prefer', 'unknown', (api) => api.get('/leads').set('Prefer', 'handling=strict, wait=1')],
    ['header Prefer', 'format', (api) => api.post('/leads', leadInput()).set('Prefer', 'tx=none')],
    ['header Idempotency-Key', 'format', (api) => api.post('/leads', leadInput()).set('Idempotency-Key', 'a b')],
    [
      'header Idempotency-Key',
      'conflict',
      (api) => api.post('/leads', leadInput()).set({ 'Idempotency-Key': 'x', Prefer: 'tx=rollback' }),
    ],
    ['body', 'type', (api) => raw(api, '[]')],
    ['body', 'missing', (api) => raw(api, '')],
    ['body', 'syntax', (api) => raw(api, '{"firstName": "Zoë", lastName: "Rowe"}')],
    ['body', 'range', (api) => raw(api, `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`)],
    ['header Content-Encoding', 'unsupported', (api) => raw(api, '{}').set('content-encoding', 'x')],
    ['header Content-Type', 'unsupported', (api) => raw(api, JSON.stringify(leadInput()), 'text/plain')],
    ['header Content-Type', 'unsupported', (api) => api.patch(`/leads/${leadId}`).type('text/plain').send('{}')],
  ])('%s is %s: %#', async (fault, reason, send) => {
    expect(faultIn(await send(tenant.api).expect(400))).toEqual([fault, reason, undefined]);
  });

  it("for a complete body under curl's default content type, and changes nothing in the body of the error", async () => {
    const type = 'application/x-www-form-urlencoded';
    const response = await raw(tenant.api, JSON.stringify(leadInput()), type).expect(400);
    expect(response.body).toEqual({ status: 400, error: "Missing or invalid 'createdByEmail'" });
    expect(faultIn(response)).toEqual(['header Content-Type', 'unsupported', undefined]);
    expect(faultIn(await raw(tenant.api, '', type).expect(400))).toEqual(['body createdByEmail', 'missing', undefined]);
  });

  it.each([
    ['email', 'email', ['a@b.co', 'c@d.co', 'A@b.co']],
    ['remoteId', 'remoteId', ['1', '2', '1'].map((id) => ({ id, integrationType: 'WEBHOOK' }))],
  ])('and which entry of a batch another one repeats, by %s', async (matchBy, field, values) => {
    const leads = values.map((value) => leadInput({ [field]: value }));
    const response = await tenant.api.post('/leads/batch', { matchBy, leads }).expect(400);
    expect(faultIn(response)).toEqual([`body leads[2].${field}`, 'duplicate', `repeats leads[0].${field}`]);
  });

  it('for the eventUrl of another record', async () => {
    const [eventUrl, other] = [randomUUID(), randomUUID()].map((id) => `https://example.com/${id}`);
    await tenant.api.post('/industryEvents', industryEventInput({ eventUrl })).expect(200);
    const created = await tenant.api.post('/industryEvents', industryEventInput({ eventUrl: other })).expect(200);
    const { id } = created.body.results.industryEvent as { id: string };
    const response = await tenant.api.put(`/industryEvents/${id}`, { eventUrl }).expect(400);
    expect(faultIn(response)).toEqual(['body eventUrl', 'duplicate', undefined]);
  });

  describe('what a 404 has not found', () => {
    type Send = (api: ApiClient) => Test;
    const entry = (id: string) => ({ leadId: id });
    it.each<[string, Send]>([
      ['path leadId', (api) => api.get(`/leads/${UNKNOWN_ID}`)],
      ['path leadId', (api) => api.delete(`/leads/${UNKNOWN_ID}`)],
      ['path eventId', (api) => api.get('/events/999999999/leads')],
      ['path industryEventId', (api) => api.post(`/industryEvents/${UNKNOWN_ID}/bookmark`, {})],
      ['path eventId', (api) => api.put('/events/999999999/leads', { eventLeads: [entry(leadId)] })],
      [
        'body eventLeads[2].leadId',
        (api) => api.put(`/events/${eventId}/leads`, { eventLeads: [leadId, leadId, UNKNOWN_ID].map(entry) }),
      ],
      ['path eventId', (api) => api.delete(`/events/999999999/leads/${leadId}`)],
      ['path leadId', (api) => api.delete(`/events/${eventId}/leads/${leadId}`)],
      ['path', (api) => api.get('/nothing')],
    ])('%s: %#', async (fault, send) => {
      const response = await send(tenant.api).expect(404);
      expect(response.body).toEqual({ status: 404, error: 'Not Found' });
      expect(faultIn(response)).toEqual([fault, 'not-found', undefined]);
    });

    it('is the same in a dry run', async () => {
      const eventLeads = [entry(UNKNOWN_ID)];
      const response = await tenant.api.put(`/events/${eventId}/leads`, { eventLeads }).set('Prefer', 'tx=rollback');
      expect([response.status, ...faultIn(response)]).toEqual([
        404,
        'body eventLeads[0].leadId',
        'not-found',
        undefined,
      ]);
    });
  });

  it('a key is not accepted, and which header must have it', async () => {
    const missing = await lanyard.client().get('/leads').set('Authorization', 'Bearer x').expect(401);
    expect(missing.body).toEqual({ status: 401, error: 'Unauthorized' });
    expect(faultIn(missing)).toEqual(['header x-api-key', 'missing', undefined]);
    expect(missing.headers['www-authenticate']).toBe('ApiKey realm="Lanyard", header="x-api-key"');
    const rejected = await lanyard.client('lan_x').get('/leads').expect(403);
    expect(faultIn(rejected)).toEqual(['header x-api-key', 'rejected', undefined]);
  });
});
