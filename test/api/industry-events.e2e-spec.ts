import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { industryEventInput, TEST_MARK, unique } from '../support/builders';
import { schemaErrors } from '../support/description';
import { Lanyard, startInProcess, startLanyard, Tenant } from '../support/lanyard';
import { INSIDE, itInside } from '../support/skipping';

describe('industry events', () => {
  let lanyard: Lanyard;
  let mine: Tenant;
  let other: Tenant;
  beforeAll(async () => {
    lanyard = await startLanyard();
    [mine, other] = [await lanyard.tenant(), await lanyard.tenant()];
  });

  const post = async (body: object) =>
    (await mine.api.post('/industryEvents', { sourceType: TEST_MARK, ...body }).expect(200)).body.results;
  const get = async (id: string, tenant = mine) =>
    (await tenant.api.get(`/industryEvents/${id}`).expect(200)).body.results.industryEvent;
  const optional = Object.keys(industryEventInput()).filter((field) => field !== 'name');

  describe('POST /industryEvents', () => {
    it('creates a record with every field', async () => {
      const input = industryEventInput();
      const { industryEvent, created, potentialDuplicates } = await post(input);
      const stamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(industryEvent).toEqual({ id: expect.any(String), createdAt: stamp, updatedAt: stamp, ...input });
      expect(industryEvent.updatedAt).toBe(industryEvent.createdAt);
      expect({ created, potentialDuplicates }).toEqual({ created: true, potentialDuplicates: [] });
      expect(await get(industryEvent.id)).toEqual({ ...industryEvent, isBookmarked: false });
    });

    it('creates a record from a name; the rest is null', async () => {
      const { industryEvent } = await post({
        name: `Expo ${unique()}`,
        keywords: null,
        id: 'x',
        createdAt: 'x',
        isBookmarked: true,
        sourceType: undefined,
      });
      for (const field of optional) expect(industryEvent[field]).toBeNull();
      await mine.api.put(`/industryEvents/${industryEvent.id}`, { sourceType: TEST_MARK }).expect(200);
    });

    it('returns the record that has the eventUrl, unchanged', async () => {
      const { industryEvent } = await post(industryEventInput());
      const again = await post(industryEventInput({ eventUrl: industryEvent.eventUrl, name: 'Another' }));
      expect(again).toEqual({ industryEvent, created: false, potentialDuplicates: [] });
      const upper = await post(industryEventInput({ eventUrl: industryEvent.eventUrl.toUpperCase() }));
      expect(upper.created).toBe(true);
    });

    it('creates, and names the records with the same name and start', async () => {
      const name = `Expo ${unique()}`;
      const dated = [];
      for (const startDate of ['2026-05-04', '2026-05-04T02:00:00+02:00']) dated.push(await post({ name, startDate }));
      const undated = await post({ name });
      const fourth = await post({ name, startDate: null });
      expect(dated[0].potentialDuplicates).toEqual([]);
      expect(dated[1]).toMatchObject({ created: true, potentialDuplicates: [dated[0].industryEvent] });
      expect(undated.potentialDuplicates).toEqual([]);
      expect(fourth.potentialDuplicates).toEqual([undated.industryEvent]);
      expect((await post({ name: name.toLowerCase() })).potentialDuplicates).toEqual([]);
    });

    it.each([
      ['2026-05-04', '2026-05-04T00:00:00.000Z'],
      ['2026-05-04T10:00Z', '2026-05-04T10:00:00.000Z'],
      ['2026-05-04T10:00:00.1+0530', '2026-05-04T04:30:00.100Z'],
      ['2026-05-04T10:00-05', '2026-05-04T15:00:00.000Z'],
      ['2026-05-04T10:00:00Z', '2026-05-04T10:00:00.000Z'],
      ['2026-05-04T10:00:00.123456+02:00', '2026-05-04T08:00:00.123Z'],
      ['2026-05-04T23:30:00-05:00', '2026-05-05T04:30:00.000Z'],
      ['0001-01-01', '0001-01-01T00:00:00.000Z'],
      ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ])('takes the date-time %s, as it is described', async (startDate, shown) => {
      const input = { name: unique(), startDate };
      expect(schemaErrors('#/components/schemas/IndustryEventCreateV0Input', input)).toEqual([]);
      expect((await post(input)).industryEvent.startDate).toBe(shown);
    });

    it.each(['2026-05-04t10:00:00z', '2026-05-04T23:59:60Z'])(
      'does not take %s, as is described',
      async (startDate) => {
        const input = industryEventInput({ startDate });
        expect(schemaErrors('#/components/schemas/IndustryEventCreateV0Input', input)).toHaveLength(1);
        await mine.api.post('/industryEvents', input).expect(400);
      },
    );

    it.each<[string, unknown]>([
      ['name', undefined],
      ['name', null],
      ['name', ''],
      ['name', ' '],
      ['name', 'x'.repeat(256)],
      ...['startDate', 'endDate'].flatMap((field) =>
        ['', 'tomorrow', '2026', '2026-02-30', '2026-05-04T10:00:00', '2024-W05', '2026-05-04T25:00:00Z', 5].map(
          (v): [string, unknown] => [field, v],
        ),
      ),
      ['endDate', '2026-05-03T00:00:00Z'],
      ...[
        'sourceType',
        'sourceId',
        'eventType',
        'venueCity',
        'venueState',
        'venueCountry',
        'venueName',
        'attendeeCost',
      ].flatMap((field) => [5, 'x'.repeat(256), 'a\u0000'].map((v): [string, unknown] => [field, v])),
      ['website', 'x'.repeat(2049)],
      ['eventUrl', 'x'.repeat(2049)],
      ['eventUrl', 5],
      ['eventUrl', ' '],
      ['description', 'x'.repeat(65_536)],
      ['numberOfAttendees', -1],
      ['numberOfAttendees', 1.5],
      ['numberOfAttendees', '5'],
      ['numberOfExhibitors', 2_147_483_648],
      ...['x', Array(101).fill('x'), [5], [null], ['x'.repeat(256)], ['a\u0000']].map((v): [string, unknown] => [
        'keywords',
        v,
      ]),
    ])('names %s when it is %j', async (field, value) => {
      const { body } = await mine.api.post('/industryEvents', industryEventInput({ [field]: value })).expect(400);
      expect(body).toEqual({ status: 400, error: `Missing or invalid '${field}'` });
    });

    it('names the first of several faults, in the order in which records have their fields', async () => {
      const { body: made } = await mine.api.post('/industryEvents', industryEventInput()).expect(200);
      const unchecked = ['id', 'createdAt', 'updatedAt', 'isBookmarked'];
      const fields = Object.keys(made.results.industryEvent as object).filter((field) => !unchecked.includes(field));
      expect(fields).toHaveLength(22);
      for (let first = 0; first < fields.length; first++) {
        const faults = fields.slice(first).reverse();
        const body = { name: unique(), ...Object.fromEntries(faults.map((field) => [field, true])) };
        const error = `Missing or invalid '${fields[first]}'`;
        await mine.api.post('/industryEvents', body).expect(400, { status: 400, error });
        const path = `/industryEvents/${made.results.industryEvent.id}`;
        await mine.api.put(path, body).expect(400, { status: 400, error });
      }
    });

    it('takes the longest of everything', async () => {
      const long = {
        description: 'ж'.repeat(65_535),
        eventUrl: '😀'.repeat(2036) + unique(),
        keywords: Array(100).fill('é'.repeat(255)),
      };
      const { industryEvent } = await post(industryEventInput({ ...long, numberOfAttendees: 2_147_483_647 }));
      expect(industryEvent).toMatchObject(long);
      expect((await post(industryEventInput(long))).created).toBe(false);
    });
  });

  describe('PUT /industryEvents/:industryEventId', () => {
    const put = (id: string, body: object) => mine.api.put(`/industryEvents/${id}`, body);

    it('changes only what the body holds', async () => {
      const { industryEvent } = await post(industryEventInput());
      const { body } = await put(industryEvent.id, {
        venueCity: 'Gdańsk',
        keywords: [],
        numberOfAttendees: null,
      }).expect(200);
      const changed = { ...industryEvent, venueCity: 'Gdańsk', keywords: [], numberOfAttendees: null };
      expect(body.results).toEqual({ industryEvent: { ...changed, updatedAt: expect.any(String) } });
      expect(body.results.industryEvent.updatedAt >= industryEvent.updatedAt).toBe(true);
      expect((await put(industryEvent.id, {}).expect(200)).body.results).toEqual(body.results);
    });

    it.each(optional)('clears %s by null', async (field) => {
      const { industryEvent } = await post(industryEventInput());
      const { body } = await put(industryEvent.id, { [field]: null }).expect(200);
      expect(body.results.industryEvent).toEqual({ ...industryEvent, [field]: null, updatedAt: expect.any(String) });
      await put(industryEvent.id, { sourceType: TEST_MARK }).expect(200);
    });

    it.each([
      ['name', { name: null }],
      ['name', { name: ' ' }],
      ['endDate', { endDate: '2026-05-03' }],
      // The start is moved behind the stored end.
      ['endDate', { startDate: '2027-01-01' }],
      ['keywords', { keywords: 'x' }],
    ])('names %s for %j', async (field, change) => {
      const { industryEvent } = await post(industryEventInput());
      const { body } = await put(industryEvent.id, { venueCity: 'x', ...change }).expect(400);
      expect(body.error).toBe(`Missing or invalid '${field}'`);
      expect(await get(industryEvent.id)).toEqual({ ...industryEvent, isBookmarked: false });
    });

    it('takes a start and an end that are the same moment', async () => {
      const { industryEvent } = await post(industryEventInput());
      const { body } = await put(industryEvent.id, { startDate: industryEvent.endDate }).expect(200);
      expect(body.results.industryEvent.startDate).toBe(industryEvent.endDate);
      const { industryEvent: undated } = await post({ name: industryEvent.name });
      await put(undated.id, { endDate: '2000-01-01' }).expect(200);
    });

    it("refuses another record's eventUrl, and takes its own", async () => {
      const [a, b] = [await post(industryEventInput()), await post(industryEventInput())];
      const { eventUrl } = a.industryEvent;
      expect((await put(b.industryEvent.id, { eventUrl }).expect(400)).body.error).toBe(
        "Missing or invalid 'eventUrl'",
      );
      await put(a.industryEvent.id, { eventUrl }).expect(200);
    });

    it('is 404 for an unknown record', () => put(randomUUID(), {}).expect(404));
  });

  describe('eventUrl as a filter', () => {
    it('finds the one record, byte for byte, whatever q is', async () => {
      const { industryEvent } = await post(industryEventInput());
      const { eventUrl } = industryEvent;
      await mine.api.get('/industryEvents', { q: '\0' }).expect(400);
      await mine.api.get('/industryEvents', { eventUrl, q: '\0' }).expect(200);
      const { body } = await mine.api.get('/industryEvents', { eventUrl, q: 'nothing at all' }).expect(200);
      expect(body.results).toEqual({ industryEvents: [industryEvent], total: 1 });
      expect(body.pagination).toEqual({ limit: 20, offset: 0 });
      for (const url of [`${eventUrl}/`, eventUrl.toUpperCase(), '', unique()]) {
        const found = (await mine.api.get('/industryEvents', { eventUrl: url }).expect(200)).body.results;
        expect(found).toEqual({ industryEvents: [], total: 0 });
      }
      await mine.api.get(`/industryEvents?eventUrl=a&eventUrl=b`).expect(400);
      await mine.api.get(`/industryEvents?eventUrl=a&q=b&q=c`).expect(400);
      await mine.api.get(`/industryEvents?eventUrl=%00`).expect(400);
    });
  });

  describe('bookmarks', () => {
    it('belong to the organization', async () => {
      const tenant = await lanyard.tenant();
      const events = [
        (await post(industryEventInput())).industryEvent,
        (await post(industryEventInput())).industryEvent,
      ];
      const [first, second] = events;
      for (const { id } of [second, first, first]) {
        const { body } = await tenant.api.post(`/industryEvents/${id}/bookmark`).expect(200);
        expect(body).toEqual({ status: 200, results: { success: true } });
      }
      expect((await tenant.api.get('/industryEvents/bookmarks').expect(200)).body).toEqual({
        status: 200,
        results: { industryEvents: events },
      });
      expect((await get(first.id, tenant)).isBookmarked).toBe(true);
      expect((await get(first.id, other)).isBookmarked).toBe(false);
      expect((await other.api.get('/industryEvents/bookmarks')).body.results.industryEvents).toEqual([]);
      await other.api.delete(`/industryEvents/${first.id}/bookmark`).expect(200);
      expect((await get(first.id, tenant)).isBookmarked).toBe(true);
      for (let times = 0; times < 2; times++) {
        const { body } = await tenant.api.delete(`/industryEvents/${first.id}/bookmark`).expect(200);
        expect(body).toEqual({ status: 200, results: { success: true } });
      }
      expect((await get(first.id, tenant)).isBookmarked).toBe(false);
      expect((await tenant.api.get('/industryEvents/bookmarks')).body.results.industryEvents).toEqual([second]);
    });

    it('are 404 of an unknown record, 400 of what is no id', async () => {
      await mine.api.post(`/industryEvents/${randomUUID()}/bookmark`).expect(404);
      await mine.api.delete(`/industryEvents/${randomUUID()}/bookmark`).expect(404);
      await mine.api.post('/industryEvents/1/bookmark').expect(400);
    });
  });

  itInside(`is 503 while an import of the catalogue is written, unless its eventUrl is known${INSIDE}`, async () => {
    const inside = await startInProcess();
    const tenant = await inside.tenant();
    const create = (n: number) =>
      tenant.api.post('/industryEvents', {
        sourceType: TEST_MARK,
        name: `Expo ${n}`,
        eventUrl: `https://expo.example/${n}`,
      });
    await create(1).expect(200);
    await inside.app.get(DataSource).transaction(async (importing) => {
      await importing.query(`select list_take(0, 'industry_events', 1)`);
      const answers = await Promise.all([1, 2].map((n) => create(n).then((answer) => answer)));
      expect(answers.map(({ status }) => status)).toEqual([200, 503]);
      expect(answers[1]?.headers['retry-after']).toBe('1');
    });
    await create(2).expect(200);
  });
});
