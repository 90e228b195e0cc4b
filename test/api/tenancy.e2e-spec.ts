import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { ApiKeysService } from '../../src/access/api-keys.service';
import { ExportService } from '../../src/exchange/datasets/export.service';
import { eventInput, createExhibitor, industryEventInput, leadInput, unique } from '../support/builders';
import { Endpoint, ENDPOINTS, Ids, RECEIVER_URL, send } from '../support/endpoints';
import { isDeployment } from '../support/deployment/deployment';
import { InProcess, Lanyard, startInProcess, startLanyard, Tenant } from '../support/lanyard';
import { runForOrganization } from '../support/oracle';
import { describeInside, INSIDE, itInside } from '../support/skipping';
import { openState, type State } from '../support/state';
import { DATASETS } from '../support/contexts';

/** The lists that are read page by page; that of the catalogue is everybody's. */
const PAGED = ENDPOINTS.filter(({ list, path }) => list !== undefined && path !== '/industryEvents');
const LISTS = PAGED.filter(({ path }) => !path.includes(':'));
const UNKNOWN_EVENT = 9_007_199_254_740_991;
/** Headers that differ from one answer to the next. */
const PASSING = ['date', 'x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

/** An organization with something of every kind, and the ids of it all. */
interface Stock {
  tenant: Tenant;
  event: number;
  parts: ReturnType<typeof createExhibitor>;
  /** by kind, as slots of endpoints name kinds, and ids that no endpoint takes */
  ids: Ids;
}

async function stocked(lanyard: Lanyard): Promise<Stock> {
  const tenant = await lanyard.tenant();
  const parts = createExhibitor();
  const event = (await tenant.import(parts.dataset)).expo ?? 0;
  const ids: Ids = { ...parts.ids, event: String(event) };
  if (!isDeployment) ids.webhook = await registerWebhook(tenant);
  return { tenant, event, parts, ids };
}

/** What a client can tell one answer from another by. */
const tellable = ({ status, text, headers }: { status: number; text: string; headers: object }) => ({
  status,
  text,
  headers: Object.entries(headers).filter(([name]) => !PASSING.includes(name)),
});

/** A request: `%` is where the id stands that is not the caller's; what stands beside it is. */
interface Case {
  endpoint: Endpoint;
  body: number;
  ids: Ids;
  kind: string;
  inCapitals: boolean;
}

const UUIDS = [...Object.keys(createExhibitor().ids), ...(isDeployment ? [] : ['webhook'])];

async function registerWebhook({ api }: Tenant): Promise<string> {
  const { body } = await api.post('/webhooks', { url: RECEIVER_URL }).expect(200);
  return (body as { results: { id: string } }).results.id;
}

/** Each slot with foreign ids: alone and beside own ones; a list also with an own id before and behind. */
function placesOf({ slots }: Endpoint): Ids[] {
  const ways = slots.map(({ name, kind, isMany }) =>
    [kind, '%', ...(isMany ? [`${kind},%`, `%,${kind}`] : [])].map((way): Ids => ({ [name]: way })),
  );
  const all = ways.reduce<Ids[]>((sofar, way) => sofar.flatMap((ids) => way.map((one) => ({ ...ids, ...one }))), [{}]);
  return all.filter((ids) => Object.values(ids).some((id) => id.includes('%')));
}

const CASES: Case[] = ENDPOINTS.flatMap((endpoint) =>
  placesOf(endpoint).flatMap((ids) =>
    endpoint.bodies.flatMap((_, body) =>
      UUIDS.flatMap((kind) => [false, true].map((inCapitals) => ({ endpoint, body, ids, kind, inCapitals }))),
    ),
  ),
).filter(differs);

/** Leaves out what asks the same again: where only a number stands, a uuid's kind and its letters change nothing. */
function differs({ endpoint, ids, body, kind, inCapitals }: Case): boolean {
  const taking = endpoint.slots.filter(({ name }) => ids[name]?.includes('%'));
  const takesBody = body === 0 || !taking.some(({ where }) => where === 'body');
  return takesBody && (taking.some(({ kind }) => kind !== 'event') || (kind === UUIDS[0] && !inCapitals));
}

function titleOf({ endpoint, body, ids, kind, inCapitals }: Case): string {
  const taking = endpoint.slots.filter(({ name }) => ids[name]?.includes('%'));
  const foreign = taking.every((slot) => slot.kind === 'event') ? 'an event' : `a(n) ${kind}`;
  const variant = `${inCapitals ? ', in capitals' : ''}${body ? `, body ${body}` : ''}`;
  return `${endpoint.name} with ${JSON.stringify(ids)}, foreign: of ${foreign}${variant}`;
}

describe('tenancy', () => {
  let lanyard: Lanyard;
  let inside: InProcess | undefined;
  let state: State | undefined;
  let owner: Stock;
  let stranger: Stock;
  let catalogued: string;

  beforeAll(async () => {
    inside = isDeployment ? undefined : await startInProcess({ webhooks: 'off' });
    lanyard = inside ?? (await startLanyard());
    state = inside?.config.databaseUrl ? await openState(inside.config.databaseUrl) : undefined;
    [owner, stranger] = [await stocked(lanyard), await stocked(lanyard)];
    const { body } = await owner.tenant.api.post('/industryEvents', industryEventInput()).expect(200);
    catalogued = body.results.industryEvent.id;
    await owner.tenant.api.post(`/industryEvents/${catalogued}/bookmark`).expect(200);
  });
  afterAll(() => state?.end());

  /** All that there is: in the database where it can be reached, else what the API shows to both. */
  const everything = async (): Promise<unknown> =>
    state ? state.everyRow() : [await shownTo(owner), await shownTo(stranger)];

  const shownTo = async ({ tenant: { api }, ids }: Stock): Promise<unknown> => {
    const paths = PAGED.map(({ path, list = '' }) => [
      path.replace(/:(\w+)Id/g, (_, kind: string) => `${ids[kind]}`),
      list,
    ]);
    const lists = await Promise.all(paths.map(([path = '', list = '']) => api.all(path, list)));
    return [...lists, (await api.get('/industryEvents/bookmarks')).body];
  };

  /** The ids of slots: the caller's own by kind, and one that is not the caller's for `%`. */
  const filled = ({ endpoint, ids, inCapitals }: Case, uuid: string, event: string): Ids =>
    Object.fromEntries(
      endpoint.slots.map(({ name, kind }) => {
        const values = (ids[name] ?? '').split(',').map((id) => {
          if (id !== '%') return kind === 'industryEvent' ? catalogued : (stranger.ids[kind] ?? '');
          return kind === 'event' ? event : inCapitals ? uuid.toUpperCase() : uuid;
        });
        return [name, values.join(',')];
      }),
    );

  it('has a record of each kind that endpoints take the ids of: createExhibitor() of test/support/builders.ts makes it', () => {
    const kinds = new Set(ENDPOINTS.flatMap(({ slots }) => slots.map(({ kind }) => kind)));
    expect([...kinds].filter((kind) => !(kind in owner.ids) && kind !== 'industryEvent')).toEqual([]);
  });

  it('takes ids in all the places that openapi.json has', () => {
    const places = ENDPOINTS.flatMap(({ slots }) => slots);
    const tried = new Set(
      CASES.flatMap(({ endpoint, ids }) => endpoint.slots.filter(({ name }) => ids[name]?.includes('%'))),
    );
    expect(tried).toEqual(new Set(places));
  });

  describe('every endpoint with every foreign id', () => {
    let current: unknown;
    beforeAll(async () => (current = await everything()));

    it.each(CASES.map((one) => [titleOf(one), one] as const))('%s', async (_, one) => {
      const ask = (ids: Ids) => send(stranger.tenant.api, one.endpoint, ids, one.endpoint.bodies[one.body]);
      const foreign = await ask(filled(one, owner.ids[one.kind] ?? '', String(owner.event)));
      const unknown = await ask(filled(one, randomUUID(), String(UNKNOWN_EVENT)));
      const before = current;
      current = await everything();
      expect(tellable(foreign)).toEqual(tellable(unknown));
      expect(foreign.status).toBe(one.endpoint.mayBeNotFound ? 404 : 200);
      expect(current).toEqual(before);
    });
  });

  it('answers filters and further pages of what is foreign as of what is unknown', async () => {
    const queries: Ids[] = [
      { offset: '1', limit: '1' },
      { eventType: 'NOTE' },
      { eventType: 'NOTE', offset: '1', limit: '1' },
    ];
    const reads = CASES.filter(({ endpoint: { method }, kind }) => method === 'get' && kind === 'lead');
    for (const one of reads) {
      for (const query of queries) {
        const ask = (ids: Ids) => send(stranger.tenant.api, one.endpoint, ids, undefined, query);
        const foreign = await ask(filled(one, owner.ids.lead ?? '', String(owner.event)));
        const unknown = await ask(filled(one, randomUUID(), String(UNKNOWN_EVENT)));
        expect({ one, ...tellable(foreign) }).toEqual({ one, ...tellable(unknown) });
      }
    }
  });

  describe('every endpoint with foreign ids where it takes none', () => {
    /** Something own of every kind to work on, which may be deleted: at an event of its own. */
    const fresh = async ({ slots }: Endpoint): Promise<Ids> => {
      const { dataset, ids } = createExhibitor();
      const ref = unique();
      const text = JSON.stringify(dataset).replaceAll('"expo"', `"${ref}"`);
      const events = await stranger.tenant.import(JSON.parse(text) as object);
      const added = await stranger.tenant.api.post('/industryEvents', industryEventInput({ eventUrl: null }));
      const own: Ids = { ...ids, event: String(events[ref]), industryEvent: added.body.results.industryEvent.id };
      if (slots.some(({ kind }) => kind === 'webhook')) own.webhook = await registerWebhook(stranger.tenant);
      return own;
    };
    const shownToOwner = () => shownTo(owner);

    it.each(ENDPOINTS.map((one) => [one.name, one] as const))('%s', async (_, endpoint) => {
      const before = await shownToOwner();
      const all = {
        id: owner.ids.lead,
        organizationId: String(owner.tenant.organizationId),
        organization_id: '1',
        eventId: String(owner.event),
        associatedLead: owner.ids.lead,
        tagOptionId: owner.ids.tagOption,
        activationId: owner.ids.activation,
        leadActivityEventId: owner.ids.note,
        ref: 'expo',
        caller: '1',
      } as Ids;
      const stray = Object.fromEntries(Object.entries(all).filter(([name]) => !endpoint.filters.includes(name)));
      const own = await fresh(endpoint);
      const slots = Object.fromEntries(
        endpoint.slots.map(({ name, kind, where }) => [name, where === 'query' ? '' : own[kind]]),
      );
      const { status, text } = await send(stranger.tenant.api, endpoint, slots as Ids, endpoint.bodies[0], stray);
      expect(status).toBe(200);
      for (const id of Object.values(owner.ids).filter((id) => id.includes('-'))) expect(text).not.toContain(id);
      expect(await shownToOwner()).toEqual(before);
    });
  });

  it('lists nothing of another organization', async () => {
    const { api } = await lanyard.tenant();
    for (const { path, list = '' } of LISTS) {
      expect((await api.get(path).expect(200)).body.results).toEqual({ [list]: [], total: 0 });
    }
    expect((await api.get('/industryEvents/bookmarks')).body.results.industryEvents).toEqual([]);
  });

  it('refuses ids of another organization on import, and changes nothing', async () => {
    const before = await everything();
    const { ids, parts } = owner;
    const { users, tagGroup, activation, lead, dataset } = parts;
    const { tagGroups, events } = dataset;
    const own = { id: randomUUID(), eventType: 'NOTE', associatedLead: stranger.ids.lead };
    const takeOvers = [
      { tagGroups },
      { tagGroups: [{ ...tagGroup, id: tagGroup.id.toUpperCase() }] },
      { tagGroups: [{ ...tagGroup, id: randomUUID() }] },
      { events, users, tagGroups: [{ ...tagGroup, id: randomUUID(), tagOptions: [] }] },
      { users, events },
      { activations: [{ ...activation, event: 'expo' }] },
      { leads: [{ id: lead.id }] },
      { leads: [{ id: lead.id.toUpperCase() }] },
      { leads: [{ id: randomUUID() }, { id: lead.id }] },
      { leads: [{ id: randomUUID(), tags: lead.tags }] },
      { leads: [{ id: randomUUID(), activations: lead.activations }] },
      { leadActivityEvents: [{ ...own, id: ids.note }] },
      { leadActivityEvents: [{ ...own, associatedLead: ids.lead }] },
      { leadActivityEvents: [{ ...own, associatedActivation: ids.activation }] },
      { leadActivityEvents: [{ ...own, associatedTagOption: ids.tagOption }] },
    ];
    for (const takeOver of takeOvers) await expect(stranger.tenant.import(takeOver)).rejects.toThrow();
    expect(await everything()).toEqual(before);
  });

  it('opens nothing to an expired key, on any endpoint', async () => {
    const dead = await owner.tenant.issueKey({ expiresAt: new Date('2020-01-01') });
    await refusesEverywhere(dead.api);
  });

  const refusesEverywhere = async (api: Tenant['api']): Promise<void> => {
    const before = await everything();
    for (const endpoint of ENDPOINTS) {
      const ids = Object.fromEntries(endpoint.slots.map(({ name, kind }) => [name, owner.ids[kind] ?? catalogued]));
      const { status, text } = await send(api, endpoint, ids);
      expect([endpoint.name, status, text]).toEqual([endpoint.name, 403, '{"status":403,"error":"Forbidden"}']);
    }
    expect(await everything()).toEqual(before);
  };

  itInside(
    `opens nothing to a revoked or a rotated key, and its successor speaks for the same organization${INSIDE}`,
    async () => {
      const keys = inside?.app.get(ApiKeysService);
      const [revoked, old] = [await owner.tenant.issueKey({}), await owner.tenant.issueKey({ maxTokens: 100 })];
      await keys?.revoke(revoked.id);
      const issued = await keys?.rotate(old.id, 0);
      await refusesEverywhere(revoked.api);
      await refusesEverywhere(old.api);
      const successor = lanyard.client(issued?.key);
      expect((await successor.get('/leads').expect(200)).text).toBe((await owner.tenant.api.get('/leads')).text);
    },
  );

  itInside(`exports nothing of another organization${INSIDE}`, async () => {
    await owner.tenant.api.post(`/industryEvents/${catalogued}/bookmark`).expect(200);
    await stranger.tenant.api.delete(`/industryEvents/${catalogued}/bookmark`).expect(200);
    const exportOf = ({ tenant }: Stock) =>
      runForOrganization(tenant.organizationId, async () => {
        const records: string[] = [];
        const db = (inside as InProcess).app.get(DataSource);
        await new ExportService(db, DATASETS).export(tenant.organizationId, DATASETS.names, async (_, all) => {
          for await (const record of all) records.push(record);
        });
        return records.join('\n');
      });
    const [owners, strangers] = [await exportOf(owner), await exportOf(stranger)];
    const idsIn = ({ ids: { webhook, ...records } }: Stock) => Object.values(records).filter((id) => id.includes('-'));
    for (const [exported, own, foreign] of [
      [owners, owner, stranger],
      [strangers, stranger, owner],
    ] as const) {
      for (const id of idsIn(own)) expect(exported).toContain(id);
      for (const id of idsIn(foreign)) expect(exported).not.toContain(id);
    }
    const catalogue = [owners, strangers].map((all) => all.split('\n').find((record) => record.includes(catalogued)));
    expect(catalogue.map((record) => record?.includes('"isBookmarked":true'))).toEqual([true, false]);
  });
});

describeInside(`the schema${INSIDE}`, () => {
  let inside: InProcess;
  let ids: Record<string, unknown>;
  beforeAll(async () => {
    inside = await startInProcess();
    const [owner, stranger] = [await inside.tenant(), await inside.tenant()];
    const { dataset, ids: foreign } = createExhibitor();
    const { expo } = await owner.import(dataset);
    const mine = (await stranger.api.post('/events', eventInput()).expect(200)).body.results.id;
    const myLead = (await stranger.api.post('/leads', leadInput()).expect(200)).body.results.id;
    const [user] = await inside.app.get(DataSource).query<{ id: string }[]>('select id from users limit 1');
    ids = { ...foreign, org: stranger.organizationId, mine, myLead, expo, user: user?.id };
  });

  const note = 'insert into lead_activity_events (id, organization_id, event_type, lead_id';
  it.each([
    ['event_leads', `values (:org, :mine, :lead, null, now(), true, true)`],
    ['event_leads', `values (:org, :expo, :myLead, null, now(), true, true)`],
    ['event_tag_groups', `values (:org, :mine, :tagGroup, 0)`],
    ['event_users', `values (:org, :mine, :user, null)`],
    ['lead_tags', `values (:org, :myLead, :tagOption, 0)`],
    ['lead_activations', `values (:org, :myLead, :activation, 0, true, true)`],
    ['tag_options', `values (gen_random_uuid(), :org, :tagGroup, 0, 'x')`],
    [`${note})`, `values (gen_random_uuid(), :org, 'NOTE', :lead)`],
    [`${note}, event_id)`, `values (gen_random_uuid(), :org, 'NOTE', :myLead, :expo)`],
    [`${note}, activation_id)`, `values (gen_random_uuid(), :org, 'NOTE', :myLead, :activation)`],
    [`${note}, tag_option_id)`, `values (gen_random_uuid(), :org, 'NOTE', :myLead, :tagOption)`],
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
