import { randomUUID } from 'node:crypto';
import { createExhibitor, eventInput, leadInput, phone } from '../support/builders';
import { Lanyard, startLanyard, Tenant } from '../support/lanyard';

interface Lead {
  id: string;
  email: string | null;
  firstName: string | null;
  remoteIds: { id: string; integrationType: string }[];
}
interface Outcome {
  outcome: string;
  lead: Lead;
}

const webhook = (id: string | null) => ({ remoteId: { id, integrationType: 'WEBHOOK' } });
const hubSpot = (id: string | null) => ({ remoteId: { id, integrationType: 'HUB_SPOT' } });

describe('finding and writing many leads', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  beforeAll(async () => void (lanyard = await startLanyard()));
  beforeEach(async () => void (tenant = await lanyard.tenant()));

  const create = async (over: object = {}): Promise<Lead> =>
    (await tenant.api.post('/leads', leadInput(over)).expect(200)).body.results;
  const get = async (id: string): Promise<Lead> => (await tenant.api.get(`/leads/${id}`).expect(200)).body.results;
  const list = (): Promise<Lead[]> => tenant.api.all<Lead>('/leads', 'leads');
  const batch = (matchBy: unknown, leads: unknown, api = tenant.api) => api.post('/leads/batch', { matchBy, leads });
  const upsert = async (matchBy: string, leads: object[]): Promise<Outcome[]> =>
    (await batch(matchBy, leads).expect(200)).body.results.leads;
  const outcomes = (results: Outcome[]): string[] => results.map(({ outcome }) => outcome);
  const refuses = async (matchBy: unknown, leads: unknown, field: string): Promise<void> => {
    const before = await list();
    await batch(matchBy, leads).expect(400, { status: 400, error: `Missing or invalid '${field}'` });
    expect(await list()).toEqual(before);
  };

  describe('GET /leads, filtered', () => {
    const found = async (query: Record<string, string>): Promise<string[]> => {
      const { results, pagination } = (await tenant.api.get('/leads', query).expect(200)).body;
      expect(pagination).toEqual({ limit: 20, offset: 0 });
      expect(results.total).toBe(results.leads.length);
      return (results.leads as Lead[]).map(({ id }) => id);
    };

    it('finds the leads of an e-mail address in any letter case, in the order of the list', async () => {
      const [first, , third] = [
        await create({ email: 'Ada.Rowe@Example.com' }),
        await create({ email: 'ada.rowe@example.org' }),
        await create({ email: 'ada.rowe@example.COM' }),
        await create(),
      ];
      expect(await found({ email: 'ADA.rowe@example.com' })).toEqual([first.id, third.id]);
      expect(await found({ email: 'ada.rowe' })).toEqual([]);
      expect(await found({ email: '%' })).toEqual([]);
      const umlaut = await create({ email: 'ÄRGER@exämple.com' });
      expect(await found({ email: 'ärger@EXÄMPLE.com' })).toEqual([umlaut.id]);
    });

    it('takes a blank in an e-mail address for the plus that form encoding made one of, but not between quotes', async () => {
      const [plus, quoted] = [
        await create({ email: 'ada+fair+2@example.com' }),
        await create({ email: '"ada rowe"@example.com' }),
      ];
      const foundBy = async (query: string): Promise<string[]> =>
        ((await tenant.api.get(`/leads?email=${query}`).expect(200)).body.results.leads as Lead[]).map(({ id }) => id);
      expect(await foundBy('ada+fair+2@example.com')).toEqual([plus.id]);
      expect(await foundBy('ADA%20fair%2B2@example.com')).toEqual([plus.id]);
      expect(await foundBy('"ada%20rowe"@example.com')).toEqual([quoted.id]);
    });

    it('finds the leads of a remote id, which is taken as it stands', async () => {
      const [lead, other] = [await create(), await create()];
      await tenant.api.patch(`/leads/${lead.id}`, webhook('A "1"')).expect(200);
      await tenant.api.patch(`/leads/${lead.id}`, hubSpot('h')).expect(200);
      await tenant.api.patch(`/leads/${other.id}`, webhook('a "1"')).expect(200);
      expect(await found({ remoteId: 'A "1"', integrationType: 'WEBHOOK' })).toEqual([lead.id]);
      expect(await found({ remoteId: 'h', integrationType: 'HUB_SPOT' })).toEqual([lead.id]);
      expect(await found({ remoteId: 'h', integrationType: 'WEBHOOK' })).toEqual([]);
      await tenant.api.patch(`/leads/${lead.id}`, webhook(null)).expect(200);
      expect(await found({ remoteId: 'A "1"', integrationType: 'WEBHOOK' })).toEqual([]);
    });

    it('narrows by each filter that is given', async () => {
      const leads = [await create({ email: 'a@example.com' }), await create({ email: 'a@example.com' })];
      for (const { id } of leads.slice(1)) await tenant.api.patch(`/leads/${id}`, webhook('1')).expect(200);
      const ofRemoteId = { remoteId: '1', integrationType: 'WEBHOOK' };
      expect(await found({ email: 'A@example.com', ...ofRemoteId })).toEqual([leads[1]?.id]);
      expect(await found({ email: 'b@example.com', ...ofRemoteId })).toEqual([]);
      expect(await found({})).toEqual(leads.map(({ id }) => id));
    });

    const event = async (name = 'Expo', api = tenant.api): Promise<number> =>
      (await api.post('/events', eventInput({ eventName: name })).expect(200)).body.results.id;
    const associate = (eventId: number, leads: object[]) =>
      tenant.api.put(`/events/${eventId}/leads`, { eventLeads: leads }).expect(200);

    it('finds leads by the beginnings of their words, in the order of the list', async () => {
      const ada = await create({ email: 'Ada.Rowe@example.com' });
      const zoe = await create({
        firstName: 'Zoë',
        lastName: "O'Neill-Ağaoğlu",
        companyName: 'Łódź Pumps & Søn',
        email: 'z@pump.example',
      });
      const han = await create({ firstName: '太郎', lastName: '山田', companyName: 'ada 株式会社' });
      const ids = [ada.id, zoe.id, han.id];
      const expected: [string, string[]][] = [
        ['ada', [ada.id, han.id]],
        ['ro  ADA', [ada.id]],
        ['rowe@EXAMPLE', [ada.id]],
        ['example.com', [ada.id]],
        ['ada.rowe@example.com', [ada.id]],
        ['da', []],
        ['ada cobalts', []],
        ["o'neill", [zoe.id]],
        ['O’Nei', [zoe.id]],
        ['neill', [zoe.id]],
        ['zoe agao', [zoe.id]],
        ["o'neill-aga", [zoe.id]],
        ['neill-ağaoğlu', [zoe.id]],
        ['neill.aga', []],
        ['pumps&', []],
        ['lodz SON', [zoe.id]],
        ['ZOE\u0308', [zoe.id]],
        ['山', [han.id]],
        ['example', [ada.id, zoe.id]],
        ['  ', ids],
      ];
      for (const [q, found_] of expected) expect([q, await found({ q })]).toEqual([q, found_]);
      await tenant.api.patch(`/leads/${ada.id}`, { firstName: 'Eva', email: null }).expect(200);
      expect(await found({ q: 'rowe@example' })).toEqual([]);
      expect(await found({ q: 'eva' })).toEqual([ada.id]);
    });

    it('finds what an import has written, new and changed', async () => {
      const id = randomUUID();
      const imported = { id, firstName: 'Ada', company: { name: 'Cobalt' } };
      await tenant.import({ leads: [imported] });
      expect(await found({ q: 'ada cob' })).toEqual([id]);
      await tenant.import({ leads: [{ ...imported, company: { name: 'Nickel' } }] });
      expect(await found({ q: 'ada cob' })).toEqual([]);
      expect(await found({ q: 'nick' })).toEqual([id]);
    });

    it('finds the leads with an e-mail address, those of a time, and those of an event', async () => {
      const [known, unknown] = [await create({ email: 'a@example.com' }), await create()];
      expect(await found({ hasEmail: 'true' })).toEqual([known.id]);
      expect(await found({ hasEmail: 'false' })).toEqual([unknown.id]);
      const id = randomUUID();
      await tenant.import({ leads: [{ id, createdAt: '2020-05-04T09:30:00.000Z' }] });
      expect(await found({ createdSince: '2020-05-04T11:30:00.000+02:00' })).toEqual([known.id, unknown.id, id]);
      expect(await found({ createdSince: '2020-05-04T09:30:00.001Z' })).toEqual([known.id, unknown.id]);
      const { body } = await tenant.api.get('/leads?createdSince=2020-05-04T11:30:00.001+02:00').expect(200);
      expect(body.results.total).toBe(2);
      const eventId = await event();
      await associate(eventId, [{ leadId: unknown.id }, { leadId: known.id }]);
      expect(await found({ eventId: String(eventId) })).toEqual([known.id, unknown.id]);
      expect(
        await found({ eventId: String(eventId), hasEmail: 'false', q: 'ada', createdSince: '2020-05-04T09:30Z' }),
      ).toEqual([unknown.id]);
    });

    it('finds the leads of an event whole, page by page, while others join it', async () => {
      const leads = Array.from({ length: 121 }, () => ({ id: randomUUID(), email: 'a@example.com' }));
      await tenant.import({ leads });
      const eventId = await event();
      const [later, ...first] = leads.map(({ id }) => id).reverse();
      await associate(
        eventId,
        first.map((leadId) => ({ leadId })),
      );
      const pages: Lead[] = [];
      for (const offset of [0, 1, 2]) {
        const { body } = await tenant.api.get('/leads', { eventId: String(eventId), limit: 50, offset }).expect(200);
        expect(body.results.total).toBe(offset === 0 ? 120 : 121);
        pages.push(...(body.results.leads as Lead[]));
        if (offset === 0) await associate(eventId, [{ leadId: later }]);
      }
      expect(pages.map(({ id }) => id)).toEqual(leads.map(({ id }) => id));
      expect(pages[0]).toEqual(await get(pages[0]?.id ?? ''));
    });

    it('knows no event of another organization', async () => {
      const other = await event('Other', (await lanyard.tenant()).api);
      const queries: Record<string, string | number>[] = [
        { eventId: other },
        { eventId: 999_999_999 },
        { eventId: other, q: 'ada' },
      ];
      for (const query of queries) {
        const response = await tenant.api.get('/leads', query).expect(404, { status: 404, error: 'Not Found' });
        expect(response.headers['lanyard-fault']).toBe('query eventId');
      }
    });

    it.each<[string, Record<string, string>]>([
      ['email', { email: 'A@example.com' }],
      ['remote id', { remoteId: 'w', integrationType: 'WEBHOOK' }],
      ['both', { email: 'A@example.com', remoteId: 'w', integrationType: 'WEBHOOK' }],
      ['words', { q: 'a@example' }],
      ['the rest', { hasEmail: 'true', createdSince: '2020-01-01T00:00:00Z', q: 'a@exa' }],
    ])('has pages and an exact total: %s', async (_, query) => {
      const same = Array.from({ length: 7 }, () => ({
        id: randomUUID(),
        email: 'a@example.com',
        remoteIds: [webhook('w').remoteId],
      }));
      await tenant.import({ leads: same.flatMap((lead) => [lead, { id: randomUUID(), email: 'b@example.com' }]) });
      const ids: string[] = [];
      for (const offset of [0, 1, 2, 3]) {
        const { body } = await tenant.api.get('/leads', { ...query, limit: 3, offset }).expect(200);
        expect(body.pagination).toEqual({ limit: 3, offset });
        expect(body.results.total).toBe(7);
        ids.push(...(body.results.leads as Lead[]).map(({ id }) => id));
      }
      expect(ids).toEqual(same.map(({ id }) => id));
    });

    it('finds nothing of another organization', async () => {
      await create({ email: 'a@example.com' });
      const [{ id }] = (await list()) as [Lead];
      await tenant.api.patch(`/leads/${id}`, webhook('1')).expect(200);
      const { api } = await lanyard.tenant();
      const queries: Record<string, string>[] = [
        { email: 'a@example.com' },
        { remoteId: '1', integrationType: 'WEBHOOK' },
        { q: 'ada' },
        { hasEmail: 'true' },
        { createdSince: '2020-01-01T00:00:00Z' },
      ];
      for (const query of queries) {
        expect((await api.get('/leads', query).expect(200)).body.results).toEqual({ leads: [], total: 0 });
      }
    });

    it.each([
      'email=',
      'email=%20',
      'email=a@b.example&email=a@b.example',
      `email=${'x'.repeat(256)}`,
      'email=a%00',
      'q=a',
      'q=ada%20b',
      'q=a%2E%2D',
      `q=${'x'.repeat(101)}`,
      'q=ada&q=ada',
      'q=a%00b',
      'hasEmail=',
      'hasEmail=TRUE',
      'hasEmail=1',
      'hasEmail=true&hasEmail=true',
      'createdSince=',
      'createdSince=2026-05-04',
      'createdSince=2026-05-04T09:30:00',
      'createdSince=2026-02-30T09:30:00Z',
      'createdSince=2026-05-04T09:30:00Z&createdSince=2026-05-04T09:30:00Z',
      'eventId=',
      'eventId=0',
      'eventId=1.5',
      'eventId=x',
      'eventId=9007199254740992',
      'eventId=1&eventId=1',
      'remoteId=1',
      'integrationType=WEBHOOK',
      'remoteId=&integrationType=WEBHOOK',
      'remoteId=%09&integrationType=WEBHOOK',
      'remoteId=1&integrationType=',
      'remoteId=1&integrationType=webhook',
      'remoteId=1&remoteId=1&integrationType=WEBHOOK',
      'remoteId=1&integrationType=WEBHOOK&integrationType=ZOHO',
      `remoteId=${'x'.repeat(256)}&integrationType=WEBHOOK`,
      'email=a@b.example&remoteId=1',
    ])('is 400 for %s', (query) =>
      tenant.api.get(`/leads?${query}`).expect(400, { status: 400, error: 'Bad Request' }),
    );

    it('takes 255 characters', async () => {
      expect(await found({ email: 'é'.repeat(255) })).toEqual([]);
      const id = '𝒜'.repeat(255);
      await upsert('remoteId', [leadInput(webhook(id))]);
      expect(await found({ remoteId: id, integrationType: 'WEBHOOK' })).toHaveLength(1);
    });
  });

  describe('GET /leads/:leadId/events', () => {
    it('has the events in the order of association, a page, and an exact total', async () => {
      const lead = await create();
      const events = [];
      for (const eventName of ['A', 'B', 'C']) {
        events.push(
          (await tenant.api.post('/events', eventInput({ eventName })).expect(200)).body.results.id as number,
        );
      }
      const [a, b, c] = events as [number, number, number];
      for (const [eventId, registered] of [
        [b, true],
        [a, false],
        [c, true],
      ] as const) {
        const eventLeads = [{ leadId: lead.id, registered, checkedIn: !registered }];
        await tenant.api.put(`/events/${eventId}/leads`, { eventLeads }).expect(200);
      }
      const all = [
        { eventId: b, eventName: 'B', registered: true, checkedIn: false },
        { eventId: a, eventName: 'A', registered: false, checkedIn: true },
        { eventId: c, eventName: 'C', registered: true, checkedIn: false },
      ];
      const page = async (query: Record<string, number>) =>
        (await tenant.api.get(`/leads/${lead.id}/events`, query).expect(200)).body;
      expect(await page({})).toEqual({
        status: 200,
        pagination: { limit: 20, offset: 0 },
        results: { events: all, total: 3 },
      });
      expect((await page({ limit: 2, offset: 1 })).results).toEqual({ events: all.slice(2), total: 3 });
      expect((await page({ offset: 9 })).results).toEqual({ events: [], total: 3 });
      const other = await create();
      const { body } = await tenant.api.get(`/leads/${other.id}/events`).expect(200);
      expect(body.results).toEqual({ events: [], total: 0 });
    });

    it('knows no lead of another organization', async () => {
      const lead = await create();
      const { api } = await lanyard.tenant();
      await api.get(`/leads/${lead.id}/events`).expect(404, { status: 404, error: 'Not Found' });
      await api.get(`/leads/${randomUUID()}/events`).expect(404, { status: 404, error: 'Not Found' });
    });
  });

  describe('POST /leads/batch', () => {
    it('creates leads as POST does, with the fields of PATCH', async () => {
      const plain = await create({ email: 'a@example.com', phoneNumbers: [phone()] });
      const more = { jobTitle: 'Buyer', address: '1 Quay', linkedin: 'l', description: 'd', ...webhook('w') };
      const [one, two] = await upsert('none', [
        leadInput({ email: 'a@example.com', phoneNumbers: [phone({ x: 1 })], unknown: 1 }),
        leadInput({ ...more, email: null, phoneNumbers: null, profilePicture: 'p' }),
      ]);
      const made = { id: expect.any(String), createdAt: expect.any(String) };
      expect(one).toEqual({ outcome: 'created', lead: { ...plain, ...made } });
      const { remoteId, ...shown } = more;
      const phoneNumbers = { leadProvided: [], serviceProvided: [] };
      const lead = { ...plain, ...made, ...shown, email: null, phoneNumbers, remoteIds: [remoteId] };
      expect(two).toEqual({ outcome: 'created', lead });
      expect((await list()).slice(1)).toEqual([one?.lead, two?.lead]);
    });

    it('updates as PATCH does: what is left out stays, null clears', async () => {
      const { id } = await create({ email: 'Ada@Example.com', phoneNumbers: [phone()] });
      await tenant.api.patch(`/leads/${id}`, { jobTitle: 'Buyer', address: '1 Quay', ...webhook('w') }).expect(200);
      const before = await get(id);
      const changes = { address: null, firstName: null, description: 'New', phoneNumbers: null, ...hubSpot('h') };
      const [result] = await upsert('email', [
        { email: 'ada@example.com', ...changes, companyName: 'Other', createdByEmail: 'other@example.com' },
      ]);
      const { remoteId, ...shown } = changes;
      const phoneNumbers = { leadProvided: [], serviceProvided: [] };
      const remoteIds = [...before.remoteIds, remoteId];
      const lead = { ...before, ...shown, email: 'ada@example.com', phoneNumbers, remoteIds };
      expect(result).toEqual({ outcome: 'updated', lead });
      expect(await get(id)).toEqual(lead);
      const cleared = await upsert('email', [{ email: 'ada@example.com', ...webhook(null) }]);
      expect(cleared[0]?.lead.remoteIds).toEqual([remoteId]);
    });

    it('says of each entry what became of it, in the order of the request', async () => {
      const known = await create({ email: 'known@example.com', phoneNumbers: [phone()] });
      await tenant.api.patch(`/leads/${known.id}`, webhook('k')).expect(200);
      const same = { ...webhook('k'), firstName: 'Ada', phoneNumbers: [phone()], companyName: 'Other', address: null };
      const entries = [leadInput(webhook('1')), same, leadInput({ ...webhook('2'), firstName: 'Two' })];
      const first = await upsert('remoteId', entries);
      expect(outcomes(first)).toEqual(['created', 'unchanged', 'created']);
      expect(first[1]?.lead).toEqual(await get(known.id));
      const second = await upsert('remoteId', [{ ...webhook('2'), jobTitle: 'x' }, ...entries.slice(0, 2)]);
      expect(outcomes(second)).toEqual(['updated', 'unchanged', 'unchanged']);
      expect(second.map(({ lead }) => lead.id)).toEqual([2, 0, 1].map((n) => first[n]?.lead.id));
      expect(await list()).toHaveLength(3);
    });

    it('counts a change that is not shown as one', async () => {
      await create({ email: 'a@example.com' });
      const entry = { email: 'a@example.com', profilePicture: 'https://example.com/a.png' };
      expect(outcomes(await upsert('email', [entry]))).toEqual(['updated']);
      expect(outcomes(await upsert('email', [entry]))).toEqual(['unchanged']);
    });

    it('keeps what belongs to the lead', async () => {
      const { dataset, lead } = createExhibitor();
      await tenant.import(dataset);
      const before = await get(lead.id);
      const [result] = await upsert('remoteId', [{ ...hubSpot('h-1'), jobTitle: 'Director' }]);
      expect(result).toEqual({ outcome: 'updated', lead: { ...before, jobTitle: 'Director' } });
    });

    it.each(['email', 'remoteId'])('updates the first in list order where several match by %s', async (matchBy) => {
      const leads = [1, 2, 3].map(() => ({
        id: randomUUID(),
        email: 'a@example.com',
        remoteIds: [webhook('w').remoteId],
      }));
      await tenant.import({ leads });
      const entry = { jobTitle: 'x', ...(matchBy === 'email' ? { email: 'A@example.com' } : webhook('w')) };
      expect((await upsert(matchBy, [entry]))[0]?.lead.id).toBe(leads[0]?.id);
      await tenant.api.delete(`/leads/${leads[0]?.id}`).expect(200);
      expect((await upsert(matchBy, [entry]))[0]?.lead.id).toBe(leads[1]?.id);
    });

    it('takes entries that match one lead by different remote ids one after the other', async () => {
      const [{ lead }] = (await upsert('remoteId', [leadInput(webhook('w'))])) as [Outcome];
      await tenant.api.patch(`/leads/${lead.id}`, hubSpot('h')).expect(200);
      const results = await upsert('remoteId', [
        { ...webhook('w'), firstName: 'First', jobTitle: 'Buyer' },
        { ...hubSpot('h'), firstName: 'Second' },
      ]);
      const after = await get(lead.id);
      expect(after).toMatchObject({ firstName: 'Second', jobTitle: 'Buyer' });
      expect(results).toEqual([1, 2].map(() => ({ outcome: 'updated', lead: after })));
    });

    it('does not find what another organization has', async () => {
      await create({ email: 'a@example.com' });
      const { api } = await lanyard.tenant();
      const { body } = await batch('email', [leadInput({ email: 'a@example.com' })], api).expect(200);
      expect(body.results.leads[0].outcome).toBe('created');
      expect(await list()).toMatchObject([{ firstName: 'Ada', email: 'a@example.com' }]);
    });

    it('takes 200 entries at most', async () => {
      const entries = Array.from({ length: 201 }, (_, n) => leadInput({ email: `lead${n}@example.com` }));
      await refuses('email', entries, 'leads');
      const results = await upsert('email', entries.slice(1));
      expect(new Set(outcomes(results))).toEqual(new Set(['created']));
      expect(await list()).toEqual(results.map(({ lead }) => lead));
      expect(new Set(outcomes(await upsert('email', entries.slice(1).reverse())))).toEqual(new Set(['unchanged']));
    });

    const valid = () => leadInput({ email: 'a@example.com', ...webhook('a') });
    it.each<[unknown, unknown, string]>([
      ...[undefined, null, '', 'id', 'Email', 5, [], '__proto__'].map((matchBy): [unknown, unknown, string] => [
        ...([matchBy, [{ email: 5 }], 'matchBy'] as const),
      ]),
      ...[undefined, null, [], {}, 'x', 5].map((leads): [unknown, unknown, string] => ['none', leads, 'leads']),
      ['none', [valid(), null], 'leads[1]'],
      ['none', [[]], 'leads[0]'],
      ['none', ['x'], 'leads[0]'],
      ['none', [{}], 'leads[0].createdByEmail'],
      ['none', [valid(), { ...valid(), firstName: ' ' }], 'leads[1].firstName'],
      ['none', [{ ...valid(), companyName: null, email: 'x' }], 'leads[0].companyName'],
      ['email', [{ ...valid(), email: undefined }], 'leads[0].email'],
      ['email', [valid(), { ...valid(), email: null }], 'leads[1].email'],
      ['email', [valid(), valid(), { ...valid(), email: 'nobody' }], 'leads[2].email'],
      ['email', [{ ...valid(), email: 5, lastName: 5 }], 'leads[0].lastName'],
      ['email', [valid(), { ...valid(), email: 'A@EXAMPLE.com' }], 'leads[1].email'],
      ['email', [{ email: 'new@example.com' }], 'leads[0].createdByEmail'],
      ['email', [{ ...leadInput({ email: 'new@example.com' }), lastName: ' ' }], 'leads[0].lastName'],
      ['email', [{ ...leadInput({ email: 'new@example.com' }), lastName: null }], 'leads[0].lastName'],
      ['email', [{ ...valid(), phoneNumbers: [phone(), phone({ type: 'FAX' })] }], 'leads[0].phoneNumbers[1].type'],
      ['email', [{ ...valid(), linkedin: 'x'.repeat(2049) }], 'leads[0].linkedin'],
      ['email', [{ ...valid(), remoteId: null }], 'leads[0].remoteId'],
      ['email', [{ ...valid(), companyName: ' ' }], 'leads[0].companyName'],
      ['remoteId', [{ ...valid(), remoteId: undefined }], 'leads[0].remoteId'],
      ['remoteId', [{ ...valid(), remoteId: null }], 'leads[0].remoteId'],
      ['remoteId', [{ ...valid(), ...webhook(null) }], 'leads[0].remoteId.id'],
      ['remoteId', [{ ...valid(), remoteId: { id: '1' } }], 'leads[0].remoteId.integrationType'],
      ['remoteId', [valid(), { ...valid(), ...hubSpot('a') }, valid()], 'leads[2].remoteId'],
    ])('is refused as a whole (%#)', async (matchBy, leads, field) => {
      await create({ email: 'a@example.com' });
      await refuses(matchBy, leads, field);
    });

    it('is refused when its body is no JSON object, or too much of one', async () => {
      await tenant.api.post('/leads/batch', []).expect(400, { status: 400, error: 'Bad Request' });
      const numbers = Array(30).fill(phone());
      const many = Array.from({ length: 200 }, () => leadInput({ phoneNumbers: numbers }));
      await batch('none', many).expect(413, { status: 413, error: 'Payload Too Large' });
      await batch('none', [leadInput({ description: 'x'.repeat(2 ** 20) })]).expect(413);
      expect(await list()).toEqual([]);
    });

    it('costs one token, and is carried out once under one Idempotency-Key', async () => {
      const { api } = await tenant.issueKey({ maxTokens: 3, refillRate: 0.001 });
      const key = randomUUID();
      const ask = (leads: object[]) => batch('none', leads, api).set('Idempotency-Key', key);
      const leads = [leadInput(), leadInput()];
      const first = await ask(leads).expect(200);
      const again = await ask(leads).expect(200, first.body);
      expect(again.headers['idempotency-replayed']).toBe('true');
      expect(again.headers['x-ratelimit-remaining']).toBe('1');
      await ask([leadInput({ firstName: 'Other' })]).expect(422);
      expect(await list()).toHaveLength(2);
    });

    it('frees its Idempotency-Key when it is refused', async () => {
      const key = randomUUID();
      await batch('email', [{ email: 'a@example.com' }])
        .set('Idempotency-Key', key)
        .expect(400);
      await batch('email', [leadInput({ email: 'a@example.com' })])
        .set('Idempotency-Key', key)
        .expect(200);
    });
  });

  describe('at once', () => {
    const SIZE = 20;
    const emails = Array.from({ length: SIZE }, (_, n) => `lead${n}@example.com`);

    it.each(['email', 'remoteId'])('batches never create two leads with one %s', async (matchBy) => {
      const entries = emails.map((email) => leadInput(matchBy === 'email' ? { email } : webhook(email)));
      const many = Array.from({ length: 8 }, (_, n) => (n % 2 ? entries : entries.toReversed()));
      const all = await Promise.all(many.map((leads) => upsert(matchBy, leads)));
      const results = all.flat();
      expect(results.filter(({ outcome }) => outcome === 'created')).toHaveLength(SIZE);
      expect(results.filter(({ outcome }) => outcome === 'unchanged')).toHaveLength(7 * SIZE);
      expect(await list()).toHaveLength(SIZE);
    });

    it('a batch creates no lead behind one that POST made meanwhile', async () => {
      const creates = emails.map((email) => create({ email, firstName: 'Posted' }));
      const entries = emails.map((email) => leadInput({ email, firstName: 'Batched' }));
      const [results] = await Promise.all([upsert('email', entries), ...creates]);
      const leads = await list();
      for (const [n, { outcome, lead }] of results.entries()) {
        const [first] = leads.filter(({ email }) => email === emails[n]);
        expect({ outcome, id: lead.id }).toEqual({ outcome, id: first?.id });
      }
    });

    it('a batch and changes of what it matches come one after the other', async () => {
      const leads = await upsert(
        'email',
        emails.map((email) => leadInput({ email })),
      );
      const changes = leads.map(({ lead: { id, email } }, n) =>
        n % 2
          ? tenant.api.patch(`/leads/${id}`, { email: `new-${email}` }).expect(200)
          : tenant.api.delete(`/leads/${id}`).expect(200),
      );
      const again = emails.map((email) => leadInput({ email, jobTitle: 'x' }));
      const [results] = await Promise.all([upsert('email', again), ...changes]);
      const after = new Map((await list()).map((lead) => [lead.id, lead]));
      for (const { outcome, lead } of results.filter(({ outcome }) => outcome === 'created')) {
        expect(after.get(lead.id)).toEqual(lead);
        expect(outcome).toBe('created');
      }
      for (const { email } of after.values()) expect(email).toMatch(/lead\d+@example\.com$/);
    });
  });
});
