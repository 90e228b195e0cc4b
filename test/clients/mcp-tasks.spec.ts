import { randomUUID } from 'node:crypto';
import { industryEventInput, leadInput, unique } from '../support/builders';
import { Lanyard, startLanyard, Tenant } from '../support/lanyard';
import { Agent, connectAgent, ToolResult } from '../support/mcp';

/** The ID of the only record of an answer. */
const idIn = ({ records }: ToolResult): string => String(records[0]?.id);

const EVENT = {
  eventName: 'Harbour Expo',
  eventType: 'TRADE_SHOW',
  startDate: '2026-09-01',
  endDate: '2026-09-03',
  createdByEmail: 'booth@example.com',
};

/** What an agent is asked to do, done with the tools alone. */
describe('an agent', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  let agent: Agent;
  beforeAll(async () => void (lanyard = await startLanyard()));
  beforeEach(async () => {
    tenant = await lanyard.tenant();
    agent = await connectAgent({ url: lanyard.baseUrl, key: tenant.key });
  });
  afterEach(() => agent.close());

  async function storeLead(fields: object = {}): Promise<string> {
    const { body } = await tenant.api.post('/leads', leadInput(fields)).expect(200);
    return (body as { results: { id: string } }).results.id;
  }

  async function storeEvent(): Promise<number> {
    const { body } = await tenant.api.post('/events', EVENT).expect(200);
    return (body as { results: { id: number } }).results.id;
  }

  it('finds a person by email, in any letter case', async () => {
    const id = await storeLead({ email: 'Ada.Rowe@example.com', firstName: 'Ada' });
    await storeLead({ email: 'ben@example.com' });
    const found = await agent.call('find_leads', { email: 'ada.rowe@EXAMPLE.com' });
    expect(found.text).toMatch(/^Leads 1 to 1 of 1\.\n/);
    expect(found.records).toEqual([expect.objectContaining({ id, firstName: 'Ada' })]);
  });

  it('corrects a telephone number, and keeps the other one', async () => {
    const wrong = { number: '+44 20 7946 0000', type: 'MOBILE', preferred: true };
    const office = { number: '+44 20 7946 0999', type: 'OFFICE', preferred: false };
    const id = await storeLead({ email: 'ada@example.com', phoneNumbers: [wrong, office] });
    const { records } = await agent.call('find_leads', { email: 'ada@example.com' });
    const { leadProvided } = records[0]?.phoneNumbers as { leadProvided: (typeof wrong)[] };
    const corrected = leadProvided.map((each) =>
      each.number === wrong.number ? { ...each, number: '+44 20 7946 0123' } : each,
    );
    expect(await agent.call('update_lead', { leadId: id, phoneNumbers: corrected })).toMatchObject({ isError: false });
    const { body } = await tenant.api.get(`/leads/${id}`).expect(200);
    expect(body.results.phoneNumbers.leadProvided).toEqual([{ ...wrong, number: '+44 20 7946 0123' }, office]);
  });

  it('puts three leads into an event, and sees them there', async () => {
    const eventId = await storeEvent();
    for (const name of ['Ada', 'Ben', 'Cleo']) await storeLead({ firstName: name });
    const events = await agent.call('list_events');
    expect(events.records).toEqual([expect.objectContaining({ id: eventId, name: EVENT.eventName })]);
    const leadIds = (await agent.call('find_leads')).records.map(({ id }) => id);
    const eventLeads = leadIds.map((leadId) => ({ leadId, registered: true }));
    const added = await agent.call('add_leads_to_event', { eventId, eventLeads });
    expect(added.text).toContain(`Set 3 leads in event ${eventId}.`);
    const { records } = await agent.call('list_events', { eventId });
    expect(records[0]).toMatchObject({ event: { id: eventId } });
    expect(records.slice(1)).toEqual(leadIds.map((leadId) => ({ leadId, registered: true, checkedIn: false })));
  });

  it('checks a person in by name, and nobody is unregistered', async () => {
    const eventId = await storeEvent();
    const leadId = await storeLead({ firstName: 'Zoë' });
    await tenant.api.put(`/events/${eventId}/leads`, { eventLeads: [{ leadId, registered: true }] }).expect(200);
    expect(idIn(await agent.call('find_leads', { q: 'zoe row' }))).toBe(leadId);
    const result = await agent.call('add_leads_to_event', { eventId, eventLeads: [{ leadId, checkedIn: true }] });
    const before = { registered: true, checkedIn: false };
    expect(result.records).toEqual([{ leadId, registered: true, checkedIn: true, before }]);
    const { records } = await agent.call('list_events');
    expect(records).toEqual([expect.objectContaining({ id: eventId, leadCount: 1 })]);
  });

  it('adds to a description, and says what changed', async () => {
    const leadId = await storeLead();
    await tenant.api.patch(`/leads/${leadId}`, { description: 'Met.' }).expect(200);
    const added = await agent.call('update_lead', { leadId, appendToDescription: 'Call back.' });
    expect(added.records).toEqual([{ field: 'description', old: 'Met.', new: 'Met.\nCall back.' }]);
    expect((await agent.call('update_lead', { leadId })).text).toBe('Nothing was sent: there is no field to update.');
    const cut = await agent.call('update_lead', { leadId, description: 'Met …(+9)' });
    expect(cut.text).toContain('contains the mark of a cut value');
  });

  it('cannot delete, and says why', async () => {
    const leadId = await storeLead();
    expect(await agent.toolNames()).not.toContain('delete_lead');
    expect(await agent.call('delete_lead', { leadId, person: 'Ada Rowe' })).toMatchObject({
      isError: true,
      text: 'Deletes are not allowed: lanyard-mcp was started without --allow-deletes.',
    });
    await tenant.api.get(`/leads/${leadId}`).expect(200);
  });

  it('deletes where that is allowed, after a dry run that stores nothing', async () => {
    const leadId = await storeLead();
    const deleter = await connectAgent({ url: lanyard.baseUrl, key: tenant.key, allowDeletes: true });
    const person = 'ada  rowe';
    const wrong = await deleter.call('delete_lead', { leadId, person: 'Ben Ito' });
    expect(wrong).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^Nothing was deleted: person does not fit/),
    });
    expect((await deleter.call('delete_lead', { leadId, person, dryRun: true })).text).toMatch(
      /^Dry run, nothing is stored\./,
    );
    await tenant.api.get(`/leads/${leadId}`).expect(200);
    expect(await deleter.call('delete_lead', { leadId, person })).toMatchObject({
      text: `Deleted lead ${leadId}, with its links: 0 activity events, 0 activations, 0 events, 0 tags, 0 remote IDs.`,
    });
    await tenant.api.get(`/leads/${leadId}`).expect(404);
    await deleter.close();
  });

  it('creates a lead from a card, once it has given what was missing', async () => {
    const card = { firstName: 'Ada', lastName: 'Rowe', companyName: 'Cobalt Systems' };
    const missing = await agent.call('create_lead', card);
    expect(missing).toMatchObject({ isError: true, text: 'Nothing was sent: createdByEmail is missing.' });
    const created = await agent.call('create_lead', { ...card, createdByEmail: 'booth@example.com' });
    expect(created.text).toContain(`Created lead ${idIn(created)}.`);
    await tenant.api.get(`/leads/${idIn(created)}`).expect(200);
  });

  it('writes a list of contacts without duplicates, after a dry run', async () => {
    await storeLead({ email: 'ada@example.com', firstName: 'Adda' });
    const contact = { lastName: 'Rowe', companyName: 'Cobalt', createdByEmail: 'booth@example.com' };
    const leads = [
      { ...contact, firstName: 'Ada', email: 'ada@example.com' },
      { ...contact, firstName: 'Ben', email: 'ben@example.com' },
    ];
    const tried = await agent.call('upsert_leads', { matchBy: 'email', leads, dryRun: true });
    expect(tried.text).toContain('Dry run, nothing is stored. Otherwise: 1 created, 1 updated, 0 unchanged.');
    const stored = await agent.call('upsert_leads', { matchBy: 'email', leads });
    expect(stored.records.map(({ outcome }) => outcome)).toEqual(['updated', 'created']);
    expect((await agent.call('find_leads')).text).toContain('Leads 1 to 2 of 2.');
  });

  it('tells the story of a lead: activity, activations and events', async () => {
    const dataset = exhibitor();
    const ids = await tenant.import(dataset);
    const { records, text } = await agent.call('get_lead', { leadId: dataset.leads[0]?.id });
    const activityEvents = records.filter((record) => 'activityEvent' in record);
    expect(text).toContain('The lead, and 10 of its 12 activity events.');
    expect(activityEvents).toHaveLength(10);
    expect(activityEvents.at(-1)).toMatchObject({ activityEvent: { eventNotes: 'Note 11' } });
    expect(records).toContainEqual({ activation: expect.objectContaining({ name: 'Booth 12' }) });
    expect(records).toContainEqual({ otherEvent: expect.objectContaining({ id: ids.expo, name: 'Harbour Expo' }) });
  });

  it('finds a trade show in the catalog and bookmarks it', async () => {
    const name = `Tidal Pumps Fair ${unique()}`;
    const { body } = await tenant.api.post('/industryEvents', industryEventInput({ name })).expect(200);
    const { id } = (body as { results: { industryEvent: { id: string } } }).results.industryEvent;
    const found = await agent.call('search_industry_events', { q: `"${name}"` });
    expect(idIn(found)).toBe(id);
    expect(await agent.call('bookmark_industry_event', { industryEventId: id })).toMatchObject({ isError: false });
    expect(idIn(await agent.call('search_industry_events', { bookmarked: true }))).toBe(id);
    await agent.call('bookmark_industry_event', { industryEventId: id, bookmarked: false });
    expect((await agent.call('search_industry_events', { bookmarked: true })).text).toBe('No industry events.');
  });

  it('says what changed since it last looked, deletions included', async () => {
    const gone = await storeLead();
    const { cursor } = await agent.call('list_changes', { resources: ['leads'] });
    const added = await storeLead({ firstName: 'Ada' });
    await tenant.api.delete(`/leads/${gone}`).expect(200);
    const { records, cursor: next } = await agent.call('list_changes', { cursor });
    expect(records).toHaveLength(2);
    expect(records).toContainEqual(expect.objectContaining({ id: added, operation: 'created' }));
    expect(records).toContainEqual(expect.objectContaining({ id: gone, operation: 'deleted' }));
    expect((await agent.call('list_changes', { cursor: next })).text).toMatch(/^0 changes\./);
  });

  it('reads a long list page by page, each record once', async () => {
    const leads = Array.from({ length: 23 }, () => ({ id: randomUUID() }));
    await tenant.import({ leads });
    const ids: unknown[] = [];
    for (let cursor: string | undefined, page = 0; page < 3; page++) {
      const found = await agent.call('find_leads', cursor === undefined ? {} : { cursor });
      ids.push(...found.records.map(({ id }) => id));
      cursor = found.cursor;
      expect(cursor).toBe(page < 2 ? String(page + 1) : undefined);
    }
    expect(ids.sort()).toEqual(leads.map(({ id }) => id).sort());
  });
});

/** One lead with activity at an activation of an event. */
function exhibitor() {
  const [lead, activation] = [randomUUID(), randomUUID()];
  const today = { startDate: '2026-09-01', endDate: '2026-09-03' };
  const event = { ref: 'expo', name: 'Harbour Expo', type: 'TRADE_SHOW', ...today };
  const booth = {
    id: activation,
    event: 'expo',
    name: 'Booth 12',
    type: 'BOOTH',
    startTime: '09:00:00',
    endTime: '18:00:00',
  };
  return {
    events: [event],
    activations: [{ ...booth, ...today }],
    leads: [{ id: lead, firstName: 'Ada' }],
    leadActivityEvents: Array.from({ length: 12 }, (_, n) => ({
      id: randomUUID(),
      associatedLead: lead,
      eventType: 'NOTE',
      eventNotes: `Note ${n}`,
      associatedActivation: activation,
    })),
  };
}
