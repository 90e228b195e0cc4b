import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { eventInput, exhibitor, industryEventInput, leadInput } from './support/builders';
import { InProcess, isDeployment, Lanyard, startInProcess, startLanyard, Tenant } from './support/lanyard';

describe('tenancy', () => {
  let lanyard: Lanyard;
  let owner: Tenant;
  let stranger: Tenant;
  let expo: number;
  let strangersEvent: number;
  const { users, tagGroup, event, activation, lead, activity } = exhibitor();
  const note = activity();

  beforeAll(async () => {
    lanyard = await startLanyard();
    [owner, stranger] = [await lanyard.tenant(), await lanyard.tenant()];
    const ids = await owner.import({
      users,
      tagGroups: [tagGroup],
      events: [event],
      activations: [activation],
      leads: [lead],
      leadActivityEvents: [note],
    });
    expo = ids.expo ?? 0;
    strangersEvent = (await stranger.api.post('/events', eventInput()).expect(200)).body.results.id;
  });
  afterAll(() => lanyard.stop());

  const LISTS = ['events', 'leads', 'leadActivityEvents', 'activations', 'tagGroups'];
  /** All that the owner sees. */
  const everything = async (): Promise<unknown> => {
    const lists = await Promise.all(LISTS.map((key) => owner.api.all(`/${key}`, key)));
    const ofEvent = await Promise.all(['leads', 'users'].map((part) => owner.api.get(`/events/${expo}/${part}`)));
    return [...lists, ...ofEvent.map(({ body }) => body)];
  };

  const unknownEvent = 9_007_199_254_740_991;
  const update = { eventName: 'Taken', eventType: 'OTHER', startDate: '2020-01-01', endDate: '2020-01-02' };
  type Ids = { event: number; lead: string; activation: string; tagGroup: string; note: string };
  const own = (): Ids => ({
    event: expo,
    lead: lead.id,
    activation: activation.id,
    tagGroup: tagGroup.id,
    note: note.id,
  });
  const unknown = (): Ids => ({
    event: unknownEvent,
    lead: randomUUID(),
    activation: randomUUID(),
    tagGroup: randomUUID(),
    note: randomUUID(),
  });

  /** Every endpoint that takes an id, in its path, its query or its body. */
  it.each<[string, (api: Tenant['api'], ids: Ids) => ReturnType<Tenant['api']['get']>]>([
    ['GET /events/:eventId', (api, ids) => api.get(`/events/${ids.event}`)],
    ['PUT /events/:eventId', (api, ids) => api.put(`/events/${ids.event}`, update)],
    ['DELETE /events/:eventId', (api, ids) => api.delete(`/events/${ids.event}`)],
    ['GET /events/:eventId/leads', (api, ids) => api.get(`/events/${ids.event}/leads`)],
    ['GET /events/:eventId/users', (api, ids) => api.get(`/events/${ids.event}/users`)],
    [
      'PUT /events/:eventId/leads (event)',
      (api, ids) => api.put(`/events/${ids.event}/leads`, { eventLeads: [{ leadId: ids.lead, checkedIn: true }] }),
    ],
    ['PUT /events/:eventId/leads (no lead)', (api, ids) => api.put(`/events/${ids.event}/leads`, { eventLeads: [] })],
    [
      'PUT /events/:eventId/leads (lead)',
      (api, ids) => api.put(`/events/${strangersEvent}/leads`, { eventLeads: [{ leadId: ids.lead }] }),
    ],
    ['DELETE /events/:eventId/leads/:leadId', (api, ids) => api.delete(`/events/${ids.event}/leads/${ids.lead}`)],
    ['DELETE …/leads/:leadId (lead)', (api, ids) => api.delete(`/events/${strangersEvent}/leads/${ids.lead}`)],
    ['GET /leads/:leadId', (api, ids) => api.get(`/leads/${ids.lead}`)],
    ['PATCH /leads/:leadId', (api, ids) => api.patch(`/leads/${ids.lead}`, { firstName: 'Taken', phoneNumbers: [] })],
    ['PATCH /leads/:leadId (nothing)', (api, ids) => api.patch(`/leads/${ids.lead}`, {})],
    [
      'PATCH /leads/:leadId (remote id)',
      (api, ids) => api.patch(`/leads/${ids.lead}`, { remoteId: { id: null, integrationType: 'WEBHOOK' } }),
    ],
    ['DELETE /leads/:leadId', (api, ids) => api.delete(`/leads/${ids.lead}`)],
    ['GET /leadActivityEvents?leadId=', (api, ids) => api.get('/leadActivityEvents', { leadId: ids.lead })],
    ['GET /leadActivityEvents/:id', (api, ids) => api.get(`/leadActivityEvents/${ids.note}`)],
    ['GET /activations/:activationId', (api, ids) => api.get(`/activations/${ids.activation}`)],
    ['GET /tagGroups/:tagGroupId', (api, ids) => api.get(`/tagGroups/${ids.tagGroup}`)],
  ])("%s answers another organization's id as an unknown one, and changes nothing", async (_, send) => {
    const before = await everything();
    const foreign = await send(stranger.api, own());
    const nothing = await send(stranger.api, unknown());
    expect([200, 404]).toContain(foreign.status);
    expect({ status: foreign.status, text: foreign.text }).toEqual({ status: nothing.status, text: nothing.text });
    expect(Object.keys(foreign.headers).sort()).toEqual(Object.keys(nothing.headers).sort());
    expect(await everything()).toEqual(before);
  });

  it('lists nothing of another organization', async () => {
    const fresh = await lanyard.tenant();
    for (const key of LISTS) {
      expect((await fresh.api.get(`/${key}`).expect(200)).body.results).toEqual({ [key]: [], total: 0 });
    }
    expect((await fresh.api.get('/industryEvents/bookmarks')).body.results.industryEvents).toEqual([]);
  });

  it('refuses an id that another organization has on import, and changes nothing', async () => {
    const before = await everything();
    const takeOvers = [
      { tagGroups: [tagGroup] },
      { tagGroups: [{ ...tagGroup, id: randomUUID() }] },
      { events: [event], users, tagGroups: [{ ...tagGroup, id: randomUUID(), tagOptions: [] }] },
      { leads: [{ id: lead.id }] },
      { leads: [{ id: randomUUID(), tags: lead.tags }] },
      { leads: [{ id: randomUUID(), activations: lead.activations }] },
      { leadActivityEvents: [{ id: randomUUID(), eventType: 'NOTE', associatedLead: lead.id }] },
    ];
    for (const dataset of takeOvers) await expect(stranger.import(dataset)).rejects.toThrow();
    expect(await everything()).toEqual(before);
  });

  it('shares the catalogue, and no bookmark', async () => {
    const { body } = await owner.api.post('/industryEvents', industryEventInput()).expect(200);
    const path = `/industryEvents/${body.results.industryEvent.id}`;
    await owner.api.post(`${path}/bookmark`).expect(200);
    expect((await stranger.api.get(path)).body.results.industryEvent.isBookmarked).toBe(false);
    await stranger.api.delete(`${path}/bookmark`).expect(200);
    expect((await owner.api.get(path)).body.results.industryEvent.isBookmarked).toBe(true);
  });
});

const describeInside = isDeployment ? describe.skip : describe;

describeInside(`the schema${isDeployment ? ' (skipped: needs the database)' : ''}`, () => {
  let inside: InProcess;
  let ids: Record<string, unknown>;
  beforeAll(async () => {
    inside = await startInProcess();
    const [owner, stranger] = [await inside.tenant(), await inside.tenant()];
    const { users, tagGroup, event, activation, lead } = exhibitor();
    const dataset = { users, tagGroups: [tagGroup], events: [event], activations: [activation], leads: [lead] };
    const { expo } = await owner.import(dataset);
    const mine = (await stranger.api.post('/events', eventInput()).expect(200)).body.results.id;
    const myLead = (await stranger.api.post('/leads', leadInput()).expect(200)).body.results.id;
    const [user] = await inside.app.get(DataSource).query<{ id: string }[]>('select id from users limit 1');
    const option = tagGroup.tagOptions[0]?.id;
    ids = { org: stranger.organizationId, mine, myLead, expo, lead: lead.id, option, group: tagGroup.id };
    Object.assign(ids, { activation: activation.id, user: user?.id });
  });
  afterAll(() => inside.stop());

  const note = 'insert into lead_activity_events (id, organization_id, event_type, lead_id';
  it.each([
    ['event_leads', `values (:org, :mine, :lead, now(), true, true)`],
    ['event_leads', `values (:org, :expo, :myLead, now(), true, true)`],
    ['event_tag_groups', `values (:org, :mine, :group, 0)`],
    ['event_users', `values (:org, :mine, :user)`],
    ['lead_tags', `values (:org, :myLead, :option, 0)`],
    ['lead_activations', `values (:org, :myLead, :activation, 0, true, true)`],
    ['tag_options', `values (gen_random_uuid(), :org, :group, 0, 'x')`],
    [`${note})`, `values (gen_random_uuid(), :org, 'NOTE', :lead)`],
    [`${note}, event_id)`, `values (gen_random_uuid(), :org, 'NOTE', :myLead, :expo)`],
    [`${note}, activation_id)`, `values (gen_random_uuid(), :org, 'NOTE', :myLead, :activation)`],
    [`${note}, tag_option_id)`, `values (gen_random_uuid(), :org, 'NOTE', :myLead, :option)`],
    [
      'insert into activations (id, organization_id, event_id, name, type, start_date, end_date, start_time, end_time)',
      `values (gen_random_uuid(), :org, :expo, 'x', 'BOOTH', now(), now(), '09:00', '10:00')`,
    ],
  ])('refuses a link between organizations: %s %s', async (into, values) => {
    const statement = `${into.startsWith('insert') ? into : `insert into ${into}`} ${values}`;
    const sql = statement.replace(/:([a-zA-Z]+)/g, (whole, name: string) =>
      name in ids ? (typeof ids[name] === 'string' ? `'${ids[name]}'` : String(ids[name])) : whole,
    );
    await expect(inside.app.get(DataSource).query(sql)).rejects.toMatchObject({ code: '23503' });
  });
});
