import { eventInput, createExhibitor } from '../support/builders';
import { Lanyard, startLanyard, Tenant, withTenant } from '../support/lanyard';

const TYPES = ['CONFERENCE', 'TRADE_SHOW', 'EVENT', 'SIDECAR', 'DINNER_MEAL', 'HAPPY_HOUR', 'OTHER'];

describe('events', () => {
  let lanyard: Lanyard;
  let mine: Tenant;
  beforeAll(async () => void ([lanyard, mine] = await withTenant(startLanyard())));

  const create = async (over: object = {}) =>
    (await mine.api.post('/events', eventInput(over)).expect(200)).body.results;

  describe('POST /events', () => {
    it('creates an event', async () => {
      const created = await create();
      expect(created).toEqual({
        id: expect.any(Number),
        name: 'Harbour Expo',
        type: 'TRADE_SHOW',
        registrationEnabled: false,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        startDate: '2026-05-04',
        endDate: '2026-05-06',
        location: null,
        tagGroups: [],
      });
      expect((await mine.api.get(`/events/${created.id}`)).body.results).toEqual(created);
    });

    it.each(TYPES)('takes the type %s', async (eventType) => {
      expect((await create({ eventType })).type).toBe(eventType);
    });

    it.each([
      ['registrationEnabled true', { registrationEnabled: true }, { registrationEnabled: true }],
      ['one day', { endDate: '2026-05-04' }, { endDate: '2026-05-04' }],
      ['a leap day', { startDate: '2024-02-29' }, { startDate: '2024-02-29' }],
      ['255 characters', { eventName: '😀'.repeat(255) }, { name: '😀'.repeat(255) }],
      ['text that is neither trimmed nor normalised', { eventName: '  e\u0301 ' }, { name: '  e\u0301 ' }],
      [
        'fields that it does not know',
        { id: 5, createdAt: 'x', location: {}, tagGroups: [1] },
        { location: null, tagGroups: [] },
      ],
    ])('takes %s', async (_, input, expected) => {
      expect(await create(input)).toMatchObject(expected);
    });

    it.each<[string, unknown]>([
      ...['eventName', 'eventType', 'startDate', 'endDate', 'createdByEmail'].flatMap((field) =>
        [undefined, null, 5, '', ['x']].map((value): [string, unknown] => [field, value]),
      ),
      ['eventName', ' \t\n '],
      ['eventName', 'x'.repeat(256)],
      ['eventName', 'a\u0000b'],
      ['eventName', 'a\ud800'],
      ['eventType', 'BREAKFAST'],
      ['eventType', 'conference'],
      ['eventType', 'toString'],
      ['startDate', '2026-02-30'],
      ['startDate', '2026-5-4'],
      ['startDate', '2026-05-04T00:00:00Z'],
      ['startDate', '0000-01-01'],
      ['endDate', '2026-05-03'],
      ['endDate', '2023-02-29'],
      ['createdByEmail', 'nobody'],
      ['createdByEmail', 'a@b'],
      ['registrationEnabled', 'true'],
      ['registrationEnabled', 1],
      ['registrationEnabled', null],
    ])('names %s when it is %j', async (field, value) => {
      const { body } = await mine.api.post('/events', eventInput({ [field]: value })).expect(400);
      expect(body).toEqual({ status: 400, error: `Missing or invalid '${field}'` });
    });

    it.each([
      [{}, 'eventName'],
      [{ eventName: 'x' }, 'eventType'],
      [{ eventName: 'x', eventType: 'EVENT', endDate: 5, createdByEmail: 5 }, 'startDate'],
      [{ eventName: 'x', eventType: 'EVENT', startDate: '2026-01-01', createdByEmail: 5 }, 'endDate'],
    ])('names the first field at fault of %j', async (body, field) => {
      expect((await mine.api.post('/events', body).expect(400)).body.error).toBe(`Missing or invalid '${field}'`);
    });
  });

  describe('PUT /events/:eventId', () => {
    const input = { eventName: 'Renamed', eventType: 'EVENT', startDate: '2027-01-01', endDate: '2027-01-02' };

    it('replaces what the body can carry', async () => {
      const { id, createdAt } = await create({ registrationEnabled: true });
      const { eventName: name, eventType: type, ...dates } = input;
      const { body } = await mine.api.put(`/events/${id}`, input).expect(200);
      const replaced = { id, createdAt, name, type, ...dates, registrationEnabled: false };
      expect(body.results).toEqual({ ...replaced, location: null, tagGroups: [] });
      expect((await mine.api.get(`/events/${id}`)).body.results).toEqual(body.results);
    });

    it('keeps location, tag groups and users', async () => {
      const { dataset, tagGroup, location } = createExhibitor();
      const tenant = await lanyard.tenant();
      const { expo } = await tenant.import(dataset);
      const { body } = await tenant.api.put(`/events/${expo}`, { ...input, registrationEnabled: true }).expect(200);
      expect(body.results).toMatchObject({ location, tagGroups: [tagGroup.id], registrationEnabled: true });
      expect((await tenant.api.get(`/events/${expo}/users`)).body.results.total).toBe(2);
    });

    it.each(['eventName', 'eventType', 'startDate', 'endDate'])('names %s when it is missing', async (field) => {
      const event = await create();
      const { body } = await mine.api.put(`/events/${event.id}`, { ...input, [field]: undefined }).expect(400);
      expect(body.error).toBe(`Missing or invalid '${field}'`);
      expect((await mine.api.get(`/events/${event.id}`)).body.results).toEqual(event);
    });
  });

  describe('DELETE /events/:eventId', () => {
    it('deletes the event', async () => {
      const { id } = await create();
      expect((await mine.api.delete(`/events/${id}`).expect(200)).body).toEqual({ status: 200, results: {} });
      await mine.api.get(`/events/${id}`).expect(404);
      await mine.api.delete(`/events/${id}`).expect(404);
    });

    it('removes activations and associations, and leaves activity events without their references', async () => {
      const { dataset, activation, lead, note } = createExhibitor();
      const tenant = await lanyard.tenant();
      const { expo } = await tenant.import(dataset);
      await tenant.api.delete(`/events/${expo}`).expect(200);
      await tenant.api.get(`/activations/${activation.id}`).expect(404);
      await tenant.api.get(`/events/${expo}/leads`).expect(404);
      expect((await tenant.api.get(`/leads/${lead.id}`)).body.results.activations).toEqual([]);
      const kept = (await tenant.api.get(`/leadActivityEvents/${note.id}`).expect(200)).body.results;
      expect(kept).toMatchObject({ associatedEvent: null, associatedActivation: null, associatedLead: lead.id });
    });
  });

  describe('GET /events/:eventId/users', () => {
    it('lists the users that are assigned, oldest first', async () => {
      const { dataset, users, event } = createExhibitor();
      const tenant = await lanyard.tenant();
      const { expo } = await tenant.import({ ...dataset, events: [event, { ...event, ref: 'b', users: [] }] });
      const { body } = await tenant.api.get(`/events/${expo}/users`, { limit: 1, offset: 1 }).expect(200);
      expect(body).toEqual({
        status: 200,
        pagination: { limit: 1, offset: 1 },
        results: { users: [{ id: expect.any(Number), ...users[1] }], total: 2 },
      });
    });
  });
});
