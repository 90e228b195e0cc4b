import { randomUUID } from 'node:crypto';
import { createExhibitor } from '../support/builders';
import { startLanyard, Tenant } from '../support/lanyard';

/** Activations, tag groups and lead activity events: what the operator fills and the API shows. */
describe('read-only resources', () => {
  let mine: Tenant;
  let expo: number | undefined;
  const { dataset, tagGroup, activation, lead, activity } = createExhibitor();
  const draft = { ...tagGroup, id: randomUUID(), status: 'DRAFT', tagOptions: [], usageInstructions: null };
  const second = { ...lead, id: randomUUID(), events: [], createdAt: '2026-05-04T10:30:00.000Z' };
  const bare = {
    ...activation,
    id: randomUUID(),
    location: null,
    createdBy: null,
    users: [],
    createdAt: '2030-01-01T00:00:00Z',
  };
  const notes = [
    activity(),
    activity({ eventType: 'PHONE', createdAt: '2026-05-04T12:00:00.000Z' }),
    activity({ associatedLead: second.id, createdAt: '2026-05-04T13:00:00.000Z' }),
    { id: randomUUID(), createdAt: '2026-05-04T14:00:00.000Z', eventType: 'OTHER_CONTENT', associatedLead: second.id },
  ];

  beforeAll(async () => {
    mine = await (await startLanyard()).tenant();
    ({ expo } = await mine.import({
      ...dataset,
      tagGroups: [tagGroup, { ...draft, createdAt: '2030-01-01T00:00:00Z' }],
      activations: [activation, bare],
      leads: [lead, second],
      leadActivityEvents: notes,
    }));
  });

  const results = async (path: string, query = {}) => (await mine.api.get(path, query).expect(200)).body.results;
  const shownNote = (note: object) => ({
    createdBy: null,
    eventNotes: null,
    associatedCampaign: null,
    associatedActivation: null,
    associatedTagOption: null,
    ...note,
    associatedEvent: 'associatedEvent' in note ? expo : null,
  });

  it('shows activations', async () => {
    const { event: _, ...rest } = activation;
    const shown = { ...rest, eventId: expo, createdAt: expect.any(String) };
    expect(await results(`/activations/${activation.id}`)).toEqual(shown);
    expect(await results('/activations')).toEqual({
      activations: [
        shown,
        { ...shown, id: bare.id, location: null, createdBy: null, users: [], createdAt: '2030-01-01T00:00:00.000Z' },
      ],
      total: 2,
    });
  });

  it('shows tag groups with their options in display order', async () => {
    const shown = { ...tagGroup, tagOptions: [...tagGroup.tagOptions].reverse() };
    expect(await results(`/tagGroups/${tagGroup.id}`)).toEqual(shown);
    expect(await results('/tagGroups')).toEqual({ tagGroups: [shown, draft], total: 2 });
  });

  it('shows the defaults of what the operator left out', async () => {
    const [group, lead] = [
      { id: randomUUID(), name: 'n' },
      { id: randomUUID(), events: [{ event: 'bare' }] },
    ];
    const events = [{ ref: 'bare', name: 'n', type: 'EVENT' }];
    const { bare: id } = await mine.import({ tagGroups: [group], events, leads: [lead] });
    const flags = { allowsMultipleSelection: false, required: false, allEvents: false };
    expect(await results(`/tagGroups/${group.id}`)).toMatchObject({ status: 'PUBLISHED', tagOptions: [], ...flags });
    expect(await results(`/events/${id}`)).toMatchObject({ registrationEnabled: false, tagGroups: [] });
    expect(await results(`/events/${id}/users`)).toEqual({ users: [], total: 0 });
    const eventLeads = [{ leadId: lead.id, registered: false, checkedIn: false }];
    expect(await results(`/events/${id}/leads`)).toEqual({ eventLeads, total: 1 });
    await mine.api.delete(`/events/${id}`).expect(200);
  });

  it('shows lead activity events', async () => {
    expect(await results('/leadActivityEvents')).toEqual({ leadActivityEvents: notes.map(shownNote), total: 4 });
    expect(await results(`/leadActivityEvents/${notes[3]?.id}`)).toEqual(shownNote(notes[3] ?? {}));
  });

  it.each([
    ['a lead', { leadId: lead.id }, [0, 1]],
    ['a lead in upper case', { leadId: lead.id.toUpperCase() }, [0, 1]],
    ['a type', { eventType: 'NOTE' }, [0, 2]],
    ['both', { leadId: second.id, eventType: 'NOTE' }, [2]],
    ['both, without a match', { leadId: lead.id, eventType: 'SMS' }, []],
    ['an unknown lead', { leadId: randomUUID() }, []],
    ['a type, page by page', { eventType: 'NOTE', limit: 1, offset: 1 }, [2]],
  ])('filters lead activity events by %s', async (_, query, expected) => {
    const { leadActivityEvents, total } = await results('/leadActivityEvents', query);
    expect(leadActivityEvents.map(({ id }: { id: string }) => notes.findIndex((note) => note.id === id))).toEqual(
      expected,
    );
    expect(total).toBe('limit' in query ? 2 : expected.length);
  });

  it.each([
    'leadId=x',
    'leadId=',
    'leadId=1&leadId=2',
    'eventType=',
    'eventType=note',
    'eventType=NOTE&eventType=NOTE',
    'eventType=toString',
    'leadId=0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b%00',
  ])('is 400 for %s', (query) =>
    mine.api.get(`/leadActivityEvents?${query}`).expect(400, { status: 400, error: 'Bad Request' }),
  );

  it('ignores parameters that it does not know', () => mine.api.get('/leadActivityEvents?lead=x&q=%00').expect(200));

  it.each([
    ['activations', activation],
    ['tagGroups', tagGroup],
    ['leadActivityEvents', notes[0]],
  ])('cannot be written: %s', async (folder, record) => {
    await mine.api.delete(`/${folder}/${record?.id}`).expect(404);
    await mine.api.put(`/${folder}/${record?.id}`, {}).expect(404);
    await mine.api.post(`/${folder}`, {}).expect(404);
  });
});
