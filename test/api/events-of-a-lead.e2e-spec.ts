import { randomUUID } from 'node:crypto';
import { eventInput, leadInput } from '../support/builders';
import { type Lanyard, startLanyard, type Tenant } from '../support/lanyard';

describe('GET /leads/:leadId/events', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  beforeAll(async () => void (lanyard = await startLanyard()));
  beforeEach(async () => void (tenant = await lanyard.tenant()));

  const create = async (): Promise<{ id: string }> =>
    (await tenant.api.post('/leads', leadInput()).expect(200)).body.results;

  it('has the events in the order of association, a page, and an exact total', async () => {
    const lead = await create();
    const events = [];
    for (const eventName of ['A', 'B', 'C']) {
      events.push((await tenant.api.post('/events', eventInput({ eventName })).expect(200)).body.results.id as number);
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
