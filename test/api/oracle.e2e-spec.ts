import { DataSource } from 'typeorm';
import { ExportService } from '../../src/exchange/datasets/export.service';
import { ImportService } from '../../src/exchange/datasets/import.service';
import { createExhibitor, industryEventInput } from '../support/builders';
import { Endpoint, ENDPOINTS, Ids, RECEIVER_URL, send } from '../support/endpoints';
import { InProcess, startInProcess, Tenant } from '../support/lanyard';
import { hasOracle, runForOrganization, statements, UNSCOPED, takeUnscoped } from '../support/oracle';
import { scopedTables } from '../support/oracle-database';
import { DATASETS } from '../support/contexts';

/** As services write it and as TypeORM does. */
const CONDITION = /(?:"?\w+"?\.)?"?organization_id"? = \$1/g;

/** Conditions beside another that keeps the statement from meeting foreign rows. */
const REDUNDANT = [
  // The leads were found in the organization before.
  'POST /leads/batch: from leads where (leads.organization_id = $1) is true and id = any',
  'POST /leads/batch: from wanted w where (leads.organization_id = $1) is true and leads.id = any',
  // The count by which a further page is found was.
  'GET /leadActivityEvents: from lead_activity_events where organization_id = $1 and lead_id = $2 on further pages',
  // An event of the lead, which was found in the organization.
  'GET /leads/:leadId/events: join events on events.organization_id = $1 and events.id = event_leads.event_id',
  // The event was found in the organization before, and so were its leads.
  'GET /leads: from event_leads e where e.organization_id = $1 and e.event_id = $6::bigint',
  'GET /leads: from leads where (leads.organization_id = $1) is true and leads.id in (select e.lead_id from event_leads e where e.organization_id = $1 and e.event_id = $6::bigint',
  // Each word begins with its organization.
  'GET /leads: from lead_words where organization_id = $1 and position = leads.position',
  // A key is of one organization.
  'POST /webhooks: "FeedReaderEntity"."organization_id" = $1) AND ("FeedReaderEntity"."api_key_ids" @> $2) AND ("FeedReaderEntity"."id" = $3)) LIMIT 1',
];

/** What a write reads back it found, or made, in the organization before. */
const READ_BACK = /^(POST|PUT|PATCH) \S+: from \w+ where organization_id = \$1 and id = \$2$/;
/** A parent's list is looked at when its parent was found in the organization, and not before: of any resource. */
const OF_PARENT = /^GET \S+\/:\w+Id\/\w+: from \w+ where organization_id = \$1 and \w+_id = \$2/;

/** Where a condition stands: from the table that was named before it to the condition after it. */
function placeOf(text: string, at: number): string {
  const table = Math.max(text.lastIndexOf('from ', at), text.lastIndexOf('join ', at));
  const after = /^.*?\sand\s\S+ = [\w.$:]+|^.*/s.exec(text.slice(at))?.[0] ?? '';
  const page = /\bseek\b|position\) >= \(/.test(text) ? ' on further pages' : '';
  return (text.slice(table, at) + after).replace(/\s+/g, ' ') + page;
}

/** Of leads: those of both organizations have them. */
const LEAD_FILTERS: Ids[] = [
  { email: 'ada@example.com' },
  { remoteId: 'w-1', integrationType: 'WEBHOOK' },
  { email: 'ada@example.com', remoteId: 'w-1', integrationType: 'WEBHOOK' },
  { q: 'ada', hasEmail: 'true' },
  { q: 'ada', email: 'ada@example.com' },
];

const QUERIES: Ids[] = [
  {},
  { limit: '1', offset: '1' },
  { eventType: 'NOTE' },
  { eventType: 'NOTE', limit: '1', offset: '1' },
  ...LEAD_FILTERS.flatMap((filter): Ids[] => [filter, { ...filter, limit: '1', offset: '1' }]),
];

const describeOracle = hasOracle ? describe : describe.skip;

/** An oracle that cannot fail would find nothing either. */
describeOracle(`the oracle${hasOracle ? '' : ' (skipped: needs LANYARD_TEST_ORACLE=rls)'}`, () => {
  let inside: InProcess;
  let db: DataSource;
  let own: Tenant;
  let ids: { own: Ids; foreign: Ids };

  beforeAll(async () => {
    // What a delivery reads would be taken for a statement of the endpoint that is called meanwhile.
    inside = await startInProcess({ webhooks: 'off' });
    db = inside.app.get(DataSource);
    own = await inside.tenant();
    ids = { own: await stock(own, '2026-05-04'), foreign: await stock(await inside.tenant(), '2030-01-01') };
  });
  afterEach(() => {
    statements.rewrite = (text) => text;
    takeUnscoped();
  });

  /** Two of everything, so that each list has two pages of one; those of others come behind the caller's. */
  const stock = async (tenant: Tenant, createdAt: string): Promise<Ids> => {
    const [one, two] = [createExhibitor(), createExhibitor()];
    const more: Record<string, object[]> = { ...two.dataset, users: [], events: [{ ...two.event, ref: 'fair' }] };
    const both = Object.entries(one.dataset).map(([section, records]) => [
      section,
      [...records, ...(more[section] ?? [])].map((record) => ({ ...record, createdAt })),
    ]);
    const { expo } = await tenant.import(Object.fromEntries(both) as object);
    const { body } = await tenant.api.post('/industryEvents', industryEventInput()).expect(200);
    const industryEvent: string = body.results.industryEvent.id;
    await tenant.api.post(`/industryEvents/${industryEvent}/bookmark`).expect(200);
    const webhook: string = (await tenant.api.post('/webhooks', { url: RECEIVER_URL }).expect(200)).body.results.id;
    return { ...one.ids, event: String(expo), industryEvent, webhook };
  };

  /** Requests to an endpoint with ids of both organizations in all of its places; what is the caller's own stays. */
  const ask = async (endpoint: Endpoint): Promise<void> => {
    const all = endpoint.slots.reduce<Ids[]>(
      (sofar, { name, kind, where }) =>
        sofar.flatMap((given) => [
          ...[ids.own, ids.foreign].map((of) => ({ ...given, [name]: of[kind] ?? '' })),
          ...(where === 'query' ? [given] : []),
        ]),
      [{}],
    );
    const isOwn = (given: Ids) => endpoint.slots.every(({ name, kind }) => given[name] === ids.own[kind]);
    for (const given of all.filter((given) => endpoint.method !== 'delete' || !isOwn(given))) {
      for (const body of endpoint.bodies) {
        for (const query of endpoint.method === 'get' ? QUERIES : [{}])
          await send(own.api, endpoint, given, body, query);
      }
    }
  };

  /** The statements that an endpoint sends, with a condition on the organization. */
  const statementsOf = async (endpoint: Endpoint): Promise<string[]> => {
    const texts = new Set<string>();
    statements.rewrite = (text) => {
      if (text.match(CONDITION)) texts.add(text);
      return text;
    };
    await ask(endpoint);
    return [...texts];
  };

  it('fails every statement whose condition on the organization is taken out, one condition at a time', async () => {
    const missed = new Set<string>();
    let caught = 0;
    for (const endpoint of ENDPOINTS) {
      for (const text of await statementsOf(endpoint)) {
        for (const { 0: condition, index } of text.matchAll(CONDITION)) {
          const without = `${text.slice(0, index)}$1::integer is not null${text.slice(index + condition.length)}`;
          statements.rewrite = (sent) => (sent === text ? without : sent);
          await ask(endpoint);
          if (takeUnscoped().length > 0) caught++;
          else missed.add(`${endpoint.name}: ${placeOf(text, index)}`);
        }
      }
    }
    const unexpected = [...missed].filter((place) => !OF_PARENT.test(place) && !READ_BACK.test(place));
    expect(unexpected.sort()).toEqual([...REDUNDANT].sort());
    expect(caught).toBeGreaterThan(0);
  }, 300_000);

  it('fails what meets the rows of all, in every table, and lets pass what does not', async () => {
    const tables = await scopedTables(db);
    expect(tables.length).toBeGreaterThanOrEqual(14);
    const tried = (sql: string) => runForOrganization(own.organizationId, () => db.query(sql));
    for (const table of tables) {
      await tried(`select from ${table} where organization_id = ${own.organizationId}`);
      for (const unscoped of ['select from', 'delete from']) {
        await expect(tried(`${unscoped} ${table}`)).rejects.toMatchObject({ code: UNSCOPED });
      }
      const update = `update ${table} set organization_id = organization_id`;
      await expect(tried(update)).rejects.toMatchObject({ code: UNSCOPED });
    }
    const added = `insert into users (organization_id, email) select id, 'x' from organizations`;
    await expect(tried(added)).rejects.toMatchObject({ code: UNSCOPED });
    expect(takeUnscoped()).toHaveLength(3 * tables.length + 1);
  });

  it('lets nobody speak for an organization before the key is known', async () => {
    const asNobody = () => db.query('select from leads');
    await expect(runForOrganization('nobody' as unknown as number, asNobody)).rejects.toMatchObject({ code: UNSCOPED });
  });

  it('lets an import pass, the first as well as one of the same again', async () => {
    const { dataset: records, event, activation, lead } = createExhibitor();
    const ofEvent = { events: [{ ...event, ref: 'third' }], activations: [{ ...activation, event: 'third' }] };
    const dataset = { ...records, ...ofEvent, leads: [{ ...lead, events: [] }] };
    const load = () => new ImportService(db, DATASETS).import(own.organizationId, dataset);
    for (const _ of ['new', 'stored']) await runForOrganization(own.organizationId, load);
    expect(takeUnscoped()).toEqual([]);
  });

  it('fails an export without an organization in any of its sections', async () => {
    const exported = (): Promise<void> =>
      new ExportService(db, DATASETS).export(own.organizationId, DATASETS.names, async (_, records) => {
        for await (const record of records) expect(record).toBeDefined();
      });
    const met = async (): Promise<number> => {
      await runForOrganization(own.organizationId, exported).catch(() => undefined);
      return takeUnscoped().length;
    };
    expect(await met()).toBe(0);
    const condition = new RegExp(`\\w+\\.organization_id = ${own.organizationId}\\b`);
    const sections = new Set<string>();
    statements.rewrite = (text) => {
      if (condition.test(text)) sections.add(text);
      return text;
    };
    await met();
    expect(sections.size).toBe(DATASETS.names.length);
    for (const section of sections) {
      statements.rewrite = (text) => (text === section ? text.replace(condition, 'true') : text);
      expect([section, await met()]).toEqual([section, 1]);
    }
  });
});
