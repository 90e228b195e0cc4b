import { DEMO_RECORDS } from '../../src/operator/demo/demo';
import type { ApiClient } from '../support/client';
import { install } from '../support/operator';

describe('export, then import,', () => {
  it('moves an organization to an empty installation, where every GET returns the same', async () => {
    const [source, second] = [await install(), await install()];
    const tenant = await source.server.tenant();
    await tenant.import(DEMO_RECORDS);
    await changeThroughTheApi(tenant.api);

    const exported = await source.operator.run(['export', '--organization', String(tenant.organizationId)]);
    const target = await second.server.tenant();
    await second.operator.json(['import', '-', '--organization', String(target.organizationId)], exported.stdout);

    expect(await everything(target.api)).toEqual(await everything(tenant.api));
    const again = await second.operator.run(['export', '--organization', String(target.organizationId)]);
    expect(again.stdout).toBe(exported.stdout);
  });
});

/** What a dataset alone does not have: records as the API writes them, and associations in an order of their own. */
async function changeThroughTheApi(api: ApiClient): Promise<void> {
  const event = { eventName: 'Late Show', eventType: 'OTHER', startDate: '2026-11-01', endDate: '2026-11-02' };
  const { body } = await api.post('/events', { ...event, createdByEmail: 'ops@example.com' }).expect(200);
  const leads = await api.all<{ id: string }>('/leads', 'leads');
  const eventLeads = leads.reverse().map(({ id }, index) => ({ leadId: id, checkedIn: index % 2 === 0 }));
  await api.put(`/events/${body.results.id}/leads`, { eventLeads }).expect(200);
  const lead = { createdByEmail: 'booth@example.com', firstName: 'Éva "\\"', lastName: '🦊', companyName: 'Tab\tbed' };
  const created = await api.post('/leads', lead).expect(200);
  await api
    .patch(`/leads/${created.body.results.id}`, {
      phoneNumbers: [{ number: '+1 555 0100', type: 'DIRECT', preferred: false }],
      remoteId: { id: 'crm-1', integrationType: 'ZOHO' },
      profilePicture: 'https://example.com/eva.png',
    })
    .expect(200);
  const expo = { name: 'Expo', startDate: '2026-03-01', keywords: ['a', 'b'], eventUrl: 'https://expo.example.com' };
  const { body: industry } = await api.post('/industryEvents', expo).expect(200);
  await api.put(`/industryEvents/${industry.results.industryEvent.id}`, { venueCity: 'Wrocław' }).expect(200);
  await api.post(`/industryEvents/${industry.results.industryEvent.id}/bookmark`).expect(200);
}

/** The answers to all GETs, with events named by their place in the list in place of their ids. */
async function everything(api: ApiClient): Promise<unknown> {
  const lists: Record<string, unknown> = {};
  for (const name of ['events', 'leads', 'leadActivityEvents', 'activations', 'tagGroups', 'industryEvents']) {
    const items = await api.all<{ id: string | number }>(`/${name}`, name);
    const singles = [];
    for (const { id } of items) singles.push((await api.get(`/${name}/${id}`).expect(200)).body);
    lists[name] = { items, singles };
  }
  const events = await api.all<{ id: number }>('/events', 'events');
  const children = [];
  for (const { id } of events) {
    const users = await api.all<{ id: number }>(`/events/${id}/users`, 'users');
    children.push({
      leads: await api.all(`/events/${id}/leads`, 'eventLeads'),
      users: users.map(({ id: _, ...user }) => user),
    });
  }
  const bookmarks = (await api.get('/industryEvents/bookmarks').expect(200)).body as object;
  const found = (await api.get('/industryEvents', { q: 'wroclaw or pumps' }).expect(200)).body as object;
  const places = new Map(events.map(({ id }, place) => [id, `event ${place}`]));
  return renamed({ lists, children, bookmarks, found }, places);
}

/** The same value with every event's id (numbers below `eventId`, `associatedEvent` and an event's `id`) renamed. */
function renamed(value: unknown, places: Map<number, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, places));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const isEventId = typeof inner === 'number' && ['id', 'eventId', 'associatedEvent'].includes(key);
      return [key, isEventId ? places.get(inner) : renamed(inner, places)];
    }),
  );
}
