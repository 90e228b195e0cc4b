import { hasOracle } from '../support/oracle';
import { randomUUID } from 'node:crypto';
import {
  Lanyard as Client,
  LanyardError,
  type LanyardOptions,
  type LeadV0Response,
} from '../../clients/typescript/src';
import { createExhibitor, TEST_MARK, unique } from '../support/builders';
import { templateOf } from '../support/description';
import { ENDPOINTS } from '../support/endpoints';
import { Lanyard, startLanyard, Tenant, withTenant } from '../support/lanyard';

const scan = (over = {}) => ({
  createdByEmail: 'booth@example.com',
  firstName: 'Ada',
  lastName: 'Rowe',
  companyName: 'Cobalt Systems',
  ...over,
});
const expo = {
  eventName: 'Harbour Expo',
  eventType: 'TRADE_SHOW',
  startDate: '2026-05-04',
  endDate: '2026-05-06',
} as const;

/** Its policies make a batch of 200 leads take longer than a statement may. */
const SLOW_ORACLE = hasOracle ? ' (skipped: a batch of 200 is too slow under row-level security)' : '';

describe('the TypeScript client', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  beforeAll(async () => void ([lanyard, tenant] = await withTenant(startLanyard())));

  const client = (options: Partial<LanyardOptions> = {}): Client =>
    new Client({ baseUrl: lanyard.baseUrl, key: tenant.key, ...options });

  it('has every endpoint of the specification, with types for what goes in and what comes out', async () => {
    const { dataset, tagGroup, activation, note, lead: known } = createExhibitor();
    await tenant.import(dataset);
    const called = new Set<string>();
    const api = client({
      fetch: (url, init) => {
        called.add(`${init.method} ${templateOf(url.slice(lanyard.baseUrl.length))?.replace(/\{(\w+)\}/g, ':$1')}`);
        return fetch(url, init);
      },
    });

    const event = await api.post('/events', { body: { ...expo, createdByEmail: 'ops@example.com' } });
    const lead: LeadV0Response = await api.post('/leads', { body: scan() });
    const ofEvent = { params: { path: { eventId: event.id } } };
    const ofLead = { params: { path: { leadId: lead.id } } };
    expect((await api.get('/events')).events.map(({ name }) => name)).toContain('Harbour Expo');
    expect((await api.get('/events/{eventId}', ofEvent)).registrationEnabled).toBe(false);
    const renamed = { ...ofEvent, body: { ...expo, eventName: 'Quay Expo', registrationEnabled: true } };
    expect((await api.put('/events/{eventId}', renamed)).name).toBe('Quay Expo');
    const associated = { ...ofEvent, body: { eventLeads: [{ leadId: lead.id, checkedIn: true }] } };
    expect((await api.put('/events/{eventId}/leads', associated)).eventLeads[0]?.checkedIn).toBe(true);
    expect((await api.get('/events/{eventId}/leads', ofEvent)).total).toBe(1);
    expect((await api.get('/events/{eventId}/users', ofEvent)).users).toEqual([]);

    expect((await api.get('/leads', { params: { query: { limit: 1 } } })).leads).toHaveLength(1);
    expect((await api.get('/leads/{leadId}', ofLead)).company.name).toBe('Cobalt Systems');
    const remoteId = { id: '0035g', integrationType: 'SALES_FORCE' } as const;
    expect((await api.patch('/leads/{leadId}', { ...ofLead, body: { remoteId } })).remoteIds).toEqual([remoteId]);

    expect((await api.findLead({ remoteId: '0035g', integrationType: 'SALES_FORCE' }))?.id).toBe(lead.id);
    const batch = { matchBy: 'email' as const, leads: [scan({ email: 'ada@example.org' })] };
    expect((await api.post('/leads/batch', { body: batch })).leads[0]?.outcome).toBe('created');

    const ofKnown = { params: { query: { leadId: known.id, eventType: 'NOTE' as const } } };
    expect((await api.get('/leadActivityEvents', ofKnown)).leadActivityEvents[0]?.eventNotes).toBe('Call back.');
    const noteOf = { params: { path: { leadActivityEventId: note.id } } };
    expect((await api.get('/leadActivityEvents/{leadActivityEventId}', noteOf)).associatedLead).toBe(known.id);
    expect((await api.get('/activations')).activations[0]?.startTime).toBe('09:00:00');
    const activationId = activation.id;
    expect((await api.get('/activations/{activationId}', { params: { path: { activationId } } })).type).toBe('BOOTH');
    expect((await api.get('/tagGroups')).total).toBe(1);
    const ofTags = { params: { path: { tagGroupId: tagGroup.id } } };
    expect((await api.get('/tagGroups/{tagGroupId}', ofTags)).tagOptions[1]?.value).toBe('Valves');

    const name = `Expo ${unique()}`;
    const { industryEvent, created } = await api.post('/industryEvents', { body: { name, sourceType: TEST_MARK } });
    expect(created).toBe(true);
    const ofIndustry = { params: { path: { industryEventId: industryEvent.id } } };
    const described = { ...ofIndustry, body: { description: 'Three days.', numberOfExhibitors: null } };
    const updated = await api.put('/industryEvents/{industryEventId}', described);
    expect(updated.industryEvent.description).toBe('Three days.');
    expect((await api.get('/industryEvents', { params: { query: { q: name } } })).total).toBe(1);
    expect((await api.post('/industryEvents/{industryEventId}/bookmark', ofIndustry)).success).toBe(true);
    expect((await api.get('/industryEvents/bookmarks')).industryEvents).toHaveLength(1);
    expect((await api.get('/industryEvents/{industryEventId}', ofIndustry)).industryEvent.isBookmarked).toBe(true);
    expect((await api.delete('/industryEvents/{industryEventId}/bookmark', ofIndustry)).success).toBe(true);

    const both = { params: { path: { eventId: event.id, leadId: lead.id } } };
    expect(await api.delete('/events/{eventId}/leads/{leadId}', both)).toEqual({});
    expect(await api.delete('/leads/{leadId}', ofLead)).toEqual({});
    expect(await api.delete('/events/{eventId}', ofEvent)).toEqual({});

    expect(ENDPOINTS.map(({ name: endpoint }) => endpoint)).toEqual(expect.arrayContaining([...called]));
    expect(called.size).toBe(28); // those of other resources have their types from openapi.json alone
  });

  it('refuses what the API does not know, and names it: the compiler does not see every body', async () => {
    const body = scan({ jobTitel: 'Buyer' });
    await expect(client().post('/leads', { body })).rejects.toMatchObject({ status: 400, field: 'jobTitel' });
    const query = { limit: 1, emial: 'ada@example.com' };
    const misspelt = client().get('/leads', { params: { query } });
    await expect(misspelt).rejects.toMatchObject({ status: 400, fault: 'query emial' });
    const leads = client().upsertLeads([scan({ source: 'crm' })], { matchBy: 'none' });
    await expect(leads.next()).rejects.toMatchObject({ status: 400, field: 'leads[0].source' });
  });

  it('tries every write without doing it', async () => {
    const api = client();
    const { id: leadId } = await api.post('/leads', { body: scan() });
    const { id: eventId } = await api.post('/events', { body: { ...expo, createdByEmail: 'ops@example.com' } });
    const before = await Promise.all([api.get('/leads'), api.get('/events')]);
    const dry = { dryRun: true } as const;
    const ofLead = { params: { path: { leadId } }, ...dry };
    expect((await api.post('/leads', { body: scan({ firstName: 'Dry' }), ...dry })).firstName).toBe('Dry');
    expect((await api.patch('/leads/{leadId}', { ...ofLead, body: { jobTitle: 'Dry' } })).jobTitle).toBe('Dry');
    const renamed = { params: { path: { eventId } }, body: { ...expo, eventName: 'Dry' }, ...dry };
    expect((await api.put('/events/{eventId}', renamed)).name).toBe('Dry');
    expect(await api.delete('/leads/{leadId}', ofLead)).toEqual({});
    for await (const { outcome } of api.upsertLeads([scan(), scan()], { matchBy: 'none', ...dry })) {
      expect(outcome).toBe('created');
    }
    expect(await Promise.all([api.get('/leads'), api.get('/events')])).toEqual(before);
    await expect(api.post('/leads', { body: scan(), ...dry, idempotencyKey: 'scan-1' })).rejects.toThrow('dry run');
  });

  it('is refused by the compiler what the API would refuse', () => {
    const { params, body } = { params: { path: { leadId: randomUUID() } }, body: scan() };
    // Never called: that each line is an error is checked by `npm run types`.
    const wrong = (api: Client) => [
      // @ts-expect-error no such path
      api.get('/lead'),
      // @ts-expect-error no such method
      api.post('/leads/{leadId}', { params, body }),
      // @ts-expect-error the id is missing
      api.get('/leads/{leadId}'),
      // @ts-expect-error the body is missing
      api.post('/leads'),
      // @ts-expect-error the company is missing
      api.post('/leads', { body: { createdByEmail: 'booth@example.com', firstName: 'Ada', lastName: 'Rowe' } }),
      // @ts-expect-error no such type
      api.get('/leadActivityEvents', { params: { query: { eventType: 'LETTER' } } }),
      // @ts-expect-error bookmarks have no pages
      api.list('/industryEvents/bookmarks'),
      // @ts-expect-error a lead has no name
      api.get('/leads/{leadId}', { params }).then(({ name }) => name),
    ];
    expect(wrong).toHaveLength(1);
  });

  it('finds a lead by its e-mail address, and none where there is none', async () => {
    const own = await lanyard.tenant();
    const api = client({ key: own.key });
    const { id } = await api.post('/leads', { body: scan({ email: 'Ada@example.com' }) });
    expect((await api.findLead({ email: 'ada@EXAMPLE.com' }))?.id).toBe(id);
    expect(await api.findLead({ email: 'bea@example.com' })).toBeUndefined();
  });

  (hasOracle ? it.skip : it)(
    `writes any number of leads in batches, waits for tokens, and tells of each what became of it${SLOW_ORACLE}`,
    async () => {
      const own = await lanyard.tenant();
      const { key } = await own.issueKey({ maxTokens: 1, refillRate: 2 });
      const requests: string[] = [];
      const api = client({
        key,
        fetch: (url, init) => {
          requests.push(url);
          return fetch(url, init);
        },
      });
      async function* contacts(size: number) {
        for (let n = 0; n < size; n++) {
          await Promise.resolve();
          yield scan({ remoteId: { id: `c-${n}`, integrationType: 'ZOHO' as const }, lastName: `Number ${n}` });
        }
      }
      const first = new Map<string, string>();
      for await (const { outcome, lead } of api.upsertLeads(contacts(450), { matchBy: 'remoteId' })) {
        first.set(lead.id, `${outcome} ${lead.lastName}`);
      }
      expect([...first.values()]).toEqual(Array.from({ length: 450 }, (_, n) => `created Number ${n}`));
      expect(requests.length).toBeGreaterThan(3);
      const again: string[] = [];
      for await (const { outcome } of api.upsertLeads(contacts(451), { matchBy: 'remoteId' })) again.push(outcome);
      expect(again).toEqual([...Array<string>(450).fill('unchanged'), 'created']);
    },
  );

  it('lists every lead once, in order, over as many pages as there are', async () => {
    const many = await lanyard.tenant();
    const leads = Array.from({ length: 120 }, (_, n) => ({
      id: randomUUID(),
      firstName: `Lead ${n}`,
      createdAt: new Date(Date.UTC(2026, 4, 4, 9, n)).toISOString(),
    }));
    await many.import({ leads });
    const met: string[] = [];
    for await (const { id } of client({ key: many.key }).list('/leads')) met.push(id);
    expect(met).toEqual(leads.map(({ id }) => id));
  });

  it('waits when the bucket is empty, as long as it is told and a little more, and gets everything done', async () => {
    const { key } = await tenant.issueKey({ maxTokens: 2, refillRate: 4 });
    const waits: number[] = [];
    const answers: number[] = [];
    const api = client({
      key,
      random: () => 0.5,
      sleep: (milliseconds) => {
        waits.push(milliseconds);
        return new Promise((done) => setImmediate(done));
      },
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        answers.push(response.status);
        return response;
      },
    });
    const all = await Promise.all(Array.from({ length: 6 }, () => api.get('/tagGroups')));
    expect(all.map(({ total }) => total)).toEqual(Array(6).fill(all[0]?.total));
    expect(answers.filter((status) => status === 200)).toHaveLength(6);
    expect(waits).toHaveLength(answers.filter((status) => status === 429).length);
    expect(Math.min(...waits)).toBe(1250);
  });

  it('makes one lead when the reply is lost, and gives the answer that was lost', async () => {
    const own = await lanyard.tenant();
    const lost: string[] = [];
    const api = client({
      key: own.key,
      sleep: () => Promise.resolve(),
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (lost.length === 3) return response;
        lost.push(((await response.json()) as { results: LeadV0Response }).results.id);
        throw new TypeError('fetch failed');
      },
    });
    const { id } = await api.post('/leads', { body: scan() });
    expect(lost).toEqual([id, id, id]);
    expect((await client({ key: own.key }).get('/leads')).total).toBe(1);
  });

  it.each<[string, string | undefined, (api: Client) => Promise<unknown>, object]>([
    [
      'a field that is wrong',
      undefined,
      (api) => api.post('/leads', { body: scan({ email: 'nowhere' }) }),
      {
        status: 400,
        message: "Missing or invalid 'email' (400, body email: format)",
        field: 'email',
        fault: 'body email',
        reason: 'format',
      },
    ],
    [
      'a key that is wrong',
      'lan_wrong',
      (api) => api.get('/leads'),
      { status: 403, text: 'Forbidden', reason: 'rejected' },
    ],
    [
      'what does not exist',
      undefined,
      (api) => api.delete('/leads/{leadId}', { params: { path: { leadId: randomUUID() } } }),
      { status: 404, message: 'Not Found (404, path leadId: not-found)' },
    ],
  ])('throws a LanyardError for %s', async (_, key, call, expected) => {
    const error: unknown = await call(client(key ? { key } : {})).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LanyardError);
    expect(error).toMatchObject({ ...expected, attempts: 1, requestId: expect.stringMatching(/^[\w-]{36}$/) });
  });
});
