import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { text as toText } from 'node:stream/consumers';
import { eventInput, createExhibitor, leadInput, TEST_MARK } from '../support/builders';
import { schemaErrors } from '../support/description';
import { Endpoint, ENDPOINTS } from '../support/endpoints';
import { Lanyard, startLanyard, Tenant, withTenant } from '../support/lanyard';

describe('pagination', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  let ids: Record<string, string>;
  const catalogued: string[] = [];
  const { users, tagGroup, event, lead, dataset, ids: own } = createExhibitor();
  const COUNT = 53;
  const times = <T>(make: (index: number) => T): T[] => Array.from({ length: COUNT }, (_, index) => make(index));
  const CATALOGUE = '/industryEvents';

  beforeAll(async () => {
    [lanyard, tenant] = await withTenant(startLanyard());
    const people = times((i) => ({ ...users[0], email: `user${i}@example.com` }));
    // What refers to the first of a section is in the list of it.
    const copies = Object.entries(dataset).map(([section, [first]]) => [
      section,
      [first, ...times(() => ({ ...first, id: randomUUID() })).slice(1)],
    ]);
    const { expo } = await tenant.import({
      ...(Object.fromEntries(copies) as object),
      users: people,
      tagGroups: [tagGroup, ...times(() => ({ ...tagGroup, id: randomUUID(), tagOptions: [] })).slice(1)],
      events: times((i) => ({ ...event, ref: i === 0 ? 'expo' : `e${i}`, users: people.map(({ email }) => email) })),
      leads: [
        { ...lead, events: times((i) => ({ event: i === 0 ? 'expo' : `e${i}` })) },
        ...times(() => ({ ...lead, id: randomUUID() })).slice(1),
      ],
    });
    ids = { ...own, event: String(expo) };
    for (let i = 0; i < COUNT; i++) {
      const { body } = await tenant.api
        .post('/industryEvents', { sourceType: TEST_MARK, name: `Page ${i}` })
        .expect(200);
      catalogued.push(body.results.industryEvent.id);
    }
  });

  const pathOf = ({ path }: Endpoint): string => path.replace(/:(\w+)Id/g, (_, kind: string) => ids[kind] ?? '');
  const get = async (list: Endpoint, query: Record<string, string | number> = {}) =>
    (await tenant.api.get(pathOf(list), query).expect(200)).body;
  const totalOf = async (list: Endpoint): Promise<number> => (await get(list, { limit: 1 })).results.total;
  /** What was counted is the list's total, as it was before and is now: others add to the catalogue meanwhile. */
  const expectTotal = async (list: Endpoint, before: number, counted: number): Promise<void> => {
    if (list.path !== CATALOGUE) expect(before).toBe(COUNT);
    const after = list.path === CATALOGUE ? await totalOf(list) : before;
    expect(counted).toBeGreaterThanOrEqual(before);
    expect(counted).toBeLessThanOrEqual(after);
  };

  it('takes a limit of any size, as it is described', async () => {
    for (const limit of [50, 99_999_999_999, 10 ** 20]) {
      expect(schemaErrors('#/components/parameters/limit/schema', limit)).toEqual([]);
      await tenant.api.get('/leads', { limit: String(limit) }).expect(200);
    }
    for (const limit of [0, 1.5]) {
      expect(schemaErrors('#/components/parameters/limit/schema', limit)).toHaveLength(1);
      await tenant.api.get('/leads', { limit: String(limit) }).expect(400);
    }
  });

  // An organization has no second page of webhooks.
  const lists = ENDPOINTS.filter(({ list }) => list !== undefined && list !== 'webhooks');
  it('is tried of every list', () => expect(lists.length).toBeGreaterThanOrEqual(8));

  describe.each(lists.map((list) => [list.path, list, list.list as string] as const))('of %s', (path, list, key) => {
    it('is of 20 items by default, and of 50 at most', async () => {
      const byDefault = await get(list);
      expect(byDefault.pagination).toEqual({ limit: 20, offset: 0 });
      expect(byDefault.results[key]).toHaveLength(20);
      for (const limit of ['50', '51', '100', '2147483648', '9'.repeat(400)]) {
        const { pagination, results } = await get(list, { limit });
        expect(pagination).toEqual({ limit: 50, offset: 0 });
        expect(results[key]).toHaveLength(50);
      }
    });

    it('gives each item exactly once', async () => {
      const before = await totalOf(list);
      const whole = await tenant.api.all<{ id?: string; leadId?: string; eventId?: number }>(pathOf(list), key, {
        limit: 7,
      });
      const ids = whole.map(({ id, leadId, eventId }) => id ?? leadId ?? eventId);
      expect(new Set(ids).size).toBe(ids.length);
      if (path === CATALOGUE) expect(ids).toEqual(expect.arrayContaining(catalogued));
      await expectTotal(list, before, ids.length);
    });

    it('takes the page index, also far behind the end', async () => {
      const second = await get(list, { limit: 25, offset: 2 });
      expect(second.pagination).toEqual({ limit: 25, offset: 2 });
      if (path !== CATALOGUE) expect(second.results[key]).toHaveLength(3);
      const far = await get(list, { limit: 50, offset: 2_147_483_647 });
      expect(far.results[key]).toEqual([]);
      await expectTotal(list, second.results.total, far.results.total);
    });

    it.each([
      ...['', ' ', ' 5', '5 ', '0', '-1', '+1', '1.5', '1e1', '0x10', 'NaN', 'Infinity', 'ten', '١', '1\0', '😀'].map(
        (v) => `limit=${encodeURIComponent(v)}`,
      ),
      ...['', ' ', '-1', '+1', '0.5', '1e1', '0x10', '2147483648', '9'.repeat(30), '1e400', '\0', 'x'].map(
        (v) => `offset=${encodeURIComponent(v)}`,
      ),
      'limit=1&limit=2',
      'limit=1&limit=1',
      'offset=0&offset=0',
    ])('is 400 for %s', (query) =>
      tenant.api.get(`${pathOf(list)}?${query}`).expect(400, { status: 400, error: 'Bad Request' }),
    );

    it('ignores parameters that it does not know', () =>
      tenant.api.get(`${pathOf(list)}?page=x&limit[]=y&sort=%00`).expect(200));
  });

  it('is in the order of creation', async () => {
    const writer = await lanyard.tenant();
    const ids: string[] = [];
    for (let i = 0; i < 30; i++) ids.push((await writer.api.post('/leads', leadInput()).expect(200)).body.results.id);
    expect((await writer.api.all<{ id: string }>('/leads', 'leads')).map(({ id }) => id)).toEqual(ids);
    const events: number[] = [];
    for (let i = 0; i < 5; i++)
      events.push((await writer.api.post('/events', eventInput()).expect(200)).body.results.id);
    expect((await writer.api.all<{ id: number }>('/events', 'events')).map(({ id }) => id)).toEqual(events);
  });

  it('gives a client that pages while others write every item that stays, once', async () => {
    const writer = await lanyard.tenant();
    const create = async () => (await writer.api.post('/leads', leadInput()).expect(200)).body.results.id as string;
    const stay = await Promise.all(Array.from({ length: 40 }, create));
    const seen: string[] = [];
    for (let offset = 0; offset < 8; offset++) {
      const [{ body }] = await Promise.all([
        writer.api.get('/leads', { limit: 10, offset }),
        create(),
        create(),
        create(),
      ]);
      seen.push(...body.results.leads.map(({ id }: { id: string }) => id));
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(stay.filter((id) => !seen.includes(id))).toEqual([]);
  });

  it('gives a page of megabytes whole, also over HTTP/1.0', async () => {
    const { api, key } = await lanyard.tenant();
    const leads = [];
    for (let n = 0; n < 6; n++) {
      const { body } = await api.post('/leads', leadInput()).expect(200);
      const changes = { description: '🙂'.repeat(60_000), address: `${n}${'é'.repeat(60_000)}` };
      leads.push((await api.patch(`/leads/${body.results.id}`, changes).expect(200)).body.results);
    }
    const { body, headers } = await api.get('/leads').expect(200);
    expect(body.results).toEqual({ leads, total: 6 });
    expect(headers).not.toHaveProperty('content-length');
    if (lanyard.baseUrl.startsWith('https')) return;
    const { hostname, port, pathname } = new URL(`${lanyard.baseUrl}/leads`);
    const socket = connect(Number(port || 80), hostname);
    socket.write(`GET ${pathname} HTTP/1.0\r\nHost: ${hostname}\r\nx-api-key: ${key}\r\n\r\n`);
    const [head = '', text = ''] = (await toText(socket)).split('\r\n\r\n');
    expect(JSON.parse(text)).toEqual(body);
    expect(head).toContain(`Content-Length: ${Buffer.byteLength(text)}`);
  });
});
