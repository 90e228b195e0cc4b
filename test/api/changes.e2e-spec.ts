import { randomUUID } from 'node:crypto';
import { eventInput, createExhibitor, leadInput } from '../support/builders';
import { Lanyard, startLanyard, Tenant, withTenant } from '../support/lanyard';
import { Change, ChangesPage, Replica, foreignCursor } from '../support/replica';

let lanyard: Lanyard;
let tenant: Tenant;
let event: number;
let made: ReturnType<typeof createExhibitor>;

beforeAll(async () => {
  lanyard = await startLanyard();
});
beforeEach(async () => {
  [lanyard, tenant] = await withTenant(Promise.resolve(lanyard));
  made = createExhibitor();
  event = (await tenant.import(made.dataset)).expo as number;
});

const read = async (query: Record<string, string | number> = {}): Promise<ChangesPage> =>
  (await tenant.api.get('/changes', query).expect(200)).body.results as ChangesPage;
/** A copy that knows all that is there. */
const following = async (resources?: string): Promise<Replica> => {
  const replica = new Replica(tenant.api, resources ? { resources } : {});
  await replica.follow();
  return replica;
};
const shortOf = ({ resource, operation, id, eventId, leadId }: Change): string =>
  `${operation} ${resource} ${id ?? `${eventId} ${leadId}`}`;
const newLead = async (over: object = {}): Promise<{ id: string }> =>
  (await tenant.api.post('/leads', leadInput(over)).expect(200)).body.results as { id: string };

describe('the first reading', () => {
  it('begins with all that is there, what is referred to first, as its own GET shows it', async () => {
    const { phase, changes, hasMore } = await read();
    expect({ phase, hasMore }).toEqual({ phase: 'snapshot', hasMore: true });
    expect(changes.map(shortOf)).toEqual([
      `snapshot tagGroups ${made.tagGroup.id}`,
      `snapshot events ${event}`,
      `snapshot activations ${made.activation.id}`,
      `snapshot leads ${made.lead.id}`,
      `snapshot eventLeads ${event} ${made.lead.id}`,
      `snapshot leadActivityEvents ${made.note.id}`,
    ]);
    for (const { resource, id, eventId, record } of changes) {
      if (eventId !== undefined) continue;
      const { body } = await tenant.api.get(`/${resource}/${id}`).expect(200);
      expect(JSON.stringify(record)).toBe(JSON.stringify(body.results));
    }
    expect(changes.find(({ resource }) => resource === 'leads')?.remoteIds).toEqual(made.lead.remoteIds);
    expect(changes.find(({ resource }) => resource === 'eventLeads')?.record).toEqual({
      leadId: made.lead.id,
      registered: true,
      checkedIn: true,
    });
  });

  it.each([1, 2, 3, 500])(
    'tells each record once in pages of %i, and goes on with what changed meanwhile',
    async (limit) => {
      for (let n = 0; n < 5; n++) await newLead();
      const replica = new Replica(tenant.api, { limit });
      const first = await replica.page();
      replica.cursor = first.cursor;
      first.changes.forEach((change) => replica.apply(change));
      await tenant.api.patch(`/leads/${made.lead.id}`, { jobTitle: 'Head of Buying' }).expect(200);
      await replica.follow();
      const read = replica.changes.filter(({ operation }) => operation === 'snapshot');
      expect(new Set(read.map(shortOf)).size).toBe(read.length);
      expect(read).toHaveLength(11);
      expect(replica.changes.filter(({ operation }) => operation === 'updated').map(shortOf)).toEqual([
        `updated leads ${made.lead.id}`,
      ]);
      expect(await replica.differences()).toEqual([]);
    },
  );

  it('of an organization without records is an empty page', async () => {
    const { api } = await lanyard.tenant();
    const replica = new Replica(api);
    expect(await replica.page()).toMatchObject({ phase: 'snapshot', changes: [] });
    await replica.follow();
    expect(replica.changes).toEqual([]);
  });

  it('is skipped with since=now', async () => {
    const page = await read({ since: 'now' });
    expect(page).toEqual({ phase: 'changes', changes: [], cursor: expect.any(String) as string, hasMore: false });
    const { id } = await newLead();
    const { changes } = await read({ cursor: page.cursor });
    expect(changes.map(shortOf)).toEqual([`created leads ${id}`]);
  });
});

describe('a change', () => {
  it('is told once, merged, with the record as it is now', async () => {
    const replica = await following();
    const { id } = await newLead();
    await tenant.api.patch(`/leads/${id}`, { jobTitle: 'Buyer' }).expect(200);
    const { body } = await tenant.api.patch(`/leads/${id}`, { jobTitle: 'Head of Buying' }).expect(200);
    const [change, ...others] = await replica.follow();
    expect(others).toEqual([]);
    expect(change).toMatchObject({ resource: 'leads', id, operation: 'created', record: body.results, remoteIds: [] });
    expect(await replica.follow()).toEqual([]);
  });

  it('is none when what its GET shows stays', async () => {
    const replica = await following();
    await tenant.api.patch(`/leads/${made.lead.id}`, { jobTitle: made.lead.jobTitle }).expect(200);
    await tenant.api.patch(`/leads/${made.lead.id}`, { profilePicture: 'https://example.com/ada.png' }).expect(200);
    const entry = { leadId: made.lead.id, registered: true, checkedIn: true };
    await tenant.api.put(`/events/${event}/leads`, { eventLeads: [entry] }).expect(200);
    const { eventName, ...rest } = eventInput({ eventName: made.event.name, registrationEnabled: true });
    await tenant.api.put(`/events/${event}`, { eventName, ...rest }).expect(200);
    await tenant.api.patch(`/leads/${randomUUID()}`, { jobTitle: 'Nobody' }).expect(404);
    await tenant.import(made.dataset);
    expect(await replica.follow()).toEqual([]);
  });

  it('of each kind of write is told', async () => {
    const replica = await following();
    const { body } = await tenant.api.post('/events', eventInput()).expect(200);
    const other = body.results.id as number;
    const { id: lead } = await newLead();
    await tenant.api.put(`/events/${other}/leads`, { eventLeads: [{ leadId: lead }] }).expect(200);
    expect((await replica.follow()).map(shortOf)).toEqual([
      `created events ${other}`,
      `created leads ${lead}`,
      `created eventLeads ${other} ${lead}`,
    ]);
    await tenant.api.put(`/events/${other}`, eventInput({ eventName: 'Quay Expo' })).expect(200);
    await tenant.api.put(`/events/${other}/leads`, { eventLeads: [{ leadId: lead, checkedIn: true }] }).expect(200);
    const batch = { matchBy: 'none', leads: [leadInput()] };
    const batched = await tenant.api.post('/leads/batch', batch).expect(200);
    expect((await replica.follow()).map(shortOf)).toEqual([
      `updated events ${other}`,
      `updated eventLeads ${other} ${lead}`,
      `created leads ${batched.body.results.leads[0].lead.id}`,
    ]);
    await tenant.api.delete(`/events/${other}/leads/${lead}`).expect(200);
    expect((await replica.follow()).map(shortOf)).toEqual([`deleted eventLeads ${other} ${lead}`]);
    expect(await replica.differences()).toEqual([]);
  });

  it('of a tag, an activation or an activity event is one of the leads that show it', async () => {
    const replica = await following();
    const [first, second] = made.tagGroup.tagOptions;
    const tagGroup = { ...made.tagGroup, tagOptions: [{ ...first, value: 'Gears' }, second] };
    await tenant.import({ tagGroups: [tagGroup] });
    expect((await replica.follow()).map(shortOf).sort()).toEqual([
      `updated leads ${made.lead.id}`,
      `updated tagGroups ${made.tagGroup.id}`,
    ]);
    const note = { ...made.note, id: randomUUID() };
    await tenant.import({ leadActivityEvents: [{ ...note, associatedEvent: null }] });
    expect((await replica.follow()).map(shortOf).sort()).toEqual([
      `created leadActivityEvents ${note.id}`,
      `updated leads ${made.lead.id}`,
    ]);
    expect(await replica.differences()).toEqual([]);
  });

  it('is deleted once, with the remote ids that it had, and with all that goes with it', async () => {
    const replica = await following();
    await tenant.api.patch(`/leads/${made.lead.id}`, { jobTitle: 'Gone soon' }).expect(200);
    await tenant.api.delete(`/leads/${made.lead.id}`).expect(200);
    const told = await replica.follow();
    expect(told.map(shortOf).sort()).toEqual([
      `deleted eventLeads ${event} ${made.lead.id}`,
      `deleted leadActivityEvents ${made.note.id}`,
      `deleted leads ${made.lead.id}`,
    ]);
    expect(told.every(({ record }) => record === null)).toBe(true);
    expect(told.find(({ resource }) => resource === 'leads')?.remoteIds).toEqual(made.lead.remoteIds);
    expect(await replica.differences()).toEqual([]);
  });

  it('of an event that is deleted is one of all that goes, and of what shows it', async () => {
    const replica = await following();
    await tenant.api.delete(`/events/${event}`).expect(200);
    expect((await replica.follow()).map(shortOf).sort()).toEqual([
      `deleted activations ${made.activation.id}`,
      `deleted eventLeads ${event} ${made.lead.id}`,
      `deleted events ${event}`,
      `updated leadActivityEvents ${made.note.id}`,
      `updated leads ${made.lead.id}`,
    ]);
    expect(await replica.differences()).toEqual([]);
  });

  it('is told of the resources that are asked for', async () => {
    const replica = await following('leads,events');
    expect(new Set(replica.changes.map(({ resource }) => resource))).toEqual(new Set(['leads', 'events']));
    await tenant.api.delete(`/events/${event}`).expect(200);
    expect((await replica.follow()).map(shortOf).sort()).toEqual([
      `deleted events ${event}`,
      `updated leads ${made.lead.id}`,
    ]);
    expect(await replica.differences()).toEqual([]);
  });
});

describe('a cursor', () => {
  it('gives the same changes, or later states of them, when it is used again', async () => {
    const { cursor } = await read({ since: 'now' });
    const { id } = await newLead();
    const [once, twice] = [await read({ cursor }), await read({ cursor })];
    expect(twice.changes).toEqual(once.changes);
    await tenant.api.patch(`/leads/${id}`, { jobTitle: 'Later' }).expect(200);
    const [again] = (await read({ cursor })).changes;
    expect(again).toMatchObject({ operation: 'created', record: { jobTitle: 'Later' } });
  });

  it('is opaque, and tells nothing of others', async () => {
    const first = await read({ since: 'now' });
    const second = await read({ since: 'now' });
    expect(first.cursor).toMatch(/^[\w-]{1,1024}$/);
    expect(first.cursor).not.toBe(second.cursor);
    const other = await lanyard.tenant();
    const refused = await other.api.get('/changes', { cursor: first.cursor }).expect(400);
    expect(refused.headers['lanyard-fault']).toBe('query cursor');
    await other.api.post('/leads', leadInput()).expect(200);
    expect((await read({ cursor: first.cursor })).changes).toEqual([]);
  });

  it('of another database is gone', async () => {
    const cursor = foreignCursor();
    await tenant.api.get('/changes', { cursor }).expect(410, { status: 410, error: 'Gone' });
  });

  it('takes pages of at most 500', async () => {
    const { cursor } = await read({ since: 'now' });
    const leads = Array.from({ length: 200 }, () => leadInput());
    for (let n = 0; n < 3; n++) await tenant.api.post('/leads/batch', { matchBy: 'none', leads }).expect(200);
    expect((await read({ cursor })).changes).toHaveLength(100);
    const page = await read({ cursor, limit: 5000 });
    expect(page).toMatchObject({ hasMore: true });
    expect(page.changes).toHaveLength(500);
    const rest = await read({ cursor: page.cursor, limit: 500 });
    expect(rest).toMatchObject({ hasMore: false });
    expect(new Set([...page.changes, ...rest.changes].map(shortOf)).size).toBe(600);
  });
});

describe('a query', () => {
  it.each([
    ['limit', { limit: 0 }],
    ['limit', { limit: '1.5' }],
    ['cursor', { cursor: '' }],
    ['cursor', { cursor: 'abc' }],
    ['cursor', { cursor: 'x'.repeat(1025) }],
    ['since', { since: 'yesterday' }],
    ['resources', { resources: '' }],
    ['resources', { resources: 'leads,leads' }],
    ['resources', { resources: 'leads,users' }],
    ['resources', { resources: ['leads', 'events'] }],
  ])('with a fault in %s is 400: %j', async (name, query) => {
    const response = await tenant.api
      .get('/changes', query as never)
      .expect(400, { status: 400, error: 'Bad Request' });
    expect(response.headers['lanyard-fault']).toBe(`query ${name}`);
  });

  it('keeps to the resources and to the place of its cursor', async () => {
    const { cursor } = await read({ resources: 'leads,events', since: 'now' });
    await tenant.api.get('/changes', { cursor, resources: 'events,leads' }).expect(200);
    await tenant.api.get('/changes', { cursor, resources: 'leads' }).expect(400);
    await tenant.api.get('/changes', { cursor, since: 'now' }).expect(400);
    const changed = cursor.slice(0, -3) + (cursor.endsWith('AAA') ? 'BBB' : 'AAA');
    await tenant.api.get('/changes', { cursor: changed }).expect(400);
  });

  it('needs a key', async () => {
    await lanyard.client().get('/changes').expect(401);
  });
});
