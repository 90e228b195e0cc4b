import { eventInput, leadInput } from '../support/builders';
import { startLanyard, Tenant } from '../support/lanyard';

const UUID = '00000000-0000-4000-8000-000000000000';

describe('event leads', () => {
  let api: Tenant['api'];
  beforeAll(async () => void ({ api } = await (await startLanyard()).tenant()));

  const event = async (): Promise<number> => (await api.post('/events', eventInput())).body.results.id;
  const leads = async (count: number): Promise<string[]> => {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) ids.push((await api.post('/leads', leadInput())).body.results.id);
    return ids;
  };
  const put = (eventId: number, eventLeads: unknown) => api.put(`/events/${eventId}/leads`, { eventLeads });
  const listed = async (eventId: number) => (await api.get(`/events/${eventId}/leads`)).body.results.eventLeads;
  const flags = (leadId: string | undefined, registered = false, checkedIn = false) => ({
    leadId,
    registered,
    checkedIn,
  });

  it('associates leads; omitted flags are false', async () => {
    const [id, [a, b]] = [await event(), await leads(2)];
    const { body } = await put(id, [
      { leadId: a, registered: true },
      { leadId: b, checkedIn: true },
    ]).expect(200);
    expect(body).toEqual({ status: 200, results: { eventLeads: [flags(a, true), flags(b, false, true)] } });
    expect(await listed(id)).toEqual(body.results.eventLeads);
  });

  it('overwrites flags, keeps the place, and removes nothing', async () => {
    const [id, [a, b, c]] = [await event(), await leads(3)];
    await put(id, [{ leadId: c, registered: true, checkedIn: true }, { leadId: a }]).expect(200);
    await put(id, [{ leadId: b }]).expect(200);
    await put(id, [{ leadId: c }]).expect(200);
    expect(await listed(id)).toEqual([flags(c), flags(a), flags(b)]);
  });

  it('takes a lead twice: the last entry at the first place, in any letter case', async () => {
    const [id, [a, b]] = [await event(), await leads(2)];
    const { body } = await put(id, [
      { leadId: a },
      { leadId: b },
      { leadId: a?.toUpperCase(), registered: true },
    ]).expect(200);
    expect(body.results.eventLeads).toEqual([flags(a, true), flags(b)]);
    expect(await listed(id)).toEqual([flags(a, true), flags(b)]);
  });

  it('takes an empty array as nothing to do', async () => {
    const id = await event();
    expect((await put(id, []).expect(200)).body.results).toEqual({ eventLeads: [] });
  });

  it.each([
    [undefined, 'eventLeads'],
    [null, 'eventLeads'],
    ['x', 'eventLeads'],
    [{}, 'eventLeads'],
    [[[]], 'eventLeads[0]'],
    [[null], 'eventLeads[0]'],
    [['x'], 'eventLeads[0]'],
    [[{}], 'eventLeads[0].leadId'],
    [[{ leadId: 5 }], 'eventLeads[0].leadId'],
    [[{ leadId: 'x' }], 'eventLeads[0].leadId'],
    [[{ leadId: UUID }, { registered: true }], 'eventLeads[1].leadId'],
    [[{ leadId: UUID, registered: 'yes' }], 'eventLeads[0].registered'],
    [[{ leadId: UUID, registered: null }], 'eventLeads[0].registered'],
    [[{ leadId: UUID, checkedIn: 1 }], 'eventLeads[0].checkedIn'],
    [Array.from({ length: 1001 }, () => ({ leadId: UUID })), 'eventLeads'],
  ])('refuses %j', async (eventLeads, field) => {
    const { body } = await put(await event(), eventLeads).expect(400);
    expect(body).toEqual({ status: 400, error: `Missing or invalid '${field}'` });
  });

  it('takes 1,000 entries', async () => {
    const [id, [a]] = [await event(), await leads(1)];
    const { body } = await put(
      id,
      Array.from({ length: 1000 }, () => ({ leadId: a })),
    ).expect(200);
    expect(body.results.eventLeads).toEqual([flags(a)]);
  });

  it('removes one association and no other', async () => {
    const [id, second, [a, b]] = [await event(), await event(), await leads(2)];
    for (const eventId of [id, second]) await put(eventId, [{ leadId: a }, { leadId: b }]).expect(200);
    const { body } = await api.delete(`/events/${id}/leads/${a?.toUpperCase()}`).expect(200);
    expect(body).toEqual({ status: 200, results: {} });
    expect(await listed(id)).toEqual([flags(b)]);
    expect(await listed(second)).toEqual([flags(a), flags(b)]);
    await api.delete(`/events/${id}/leads/${a}`).expect(404);
    await api.delete(`/events/${id}/leads/x`).expect(400);
    await api.delete(`/events/x/leads/${a}`).expect(400);
  });

  it('pages through the leads of an event in the order of association', async () => {
    const [id, all] = [await event(), await leads(7)];
    await put(
      id,
      [...all].reverse().map((leadId) => ({ leadId })),
    ).expect(200);
    const { body } = await api.get(`/events/${id}/leads`, { limit: 3, offset: 2 }).expect(200);
    expect(body).toEqual({
      status: 200,
      pagination: { limit: 3, offset: 2 },
      results: { eventLeads: [flags(all[0])], total: 7 },
    });
  });

  it('disappears with the lead', async () => {
    const [id, [a, b]] = [await event(), await leads(2)];
    await put(id, [{ leadId: a }, { leadId: b }]).expect(200);
    await api.delete(`/leads/${a}`).expect(200);
    expect(await listed(id)).toEqual([flags(b)]);
  });
});
