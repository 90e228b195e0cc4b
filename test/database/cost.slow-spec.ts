import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Pool, PoolClient, QueryArrayConfig } from 'pg';
import { DataSource } from 'typeorm';
import { AccessService } from '../../src/access/access.service';
import { poolOf } from '../../src/data/database/data-source';
import { RedisTokenBucketStore } from '../../src/http/rate-limit/redis-token-bucket.store';
import { RedisConnection } from '../../src/http/rate-limit/redis';
import { TAKE_TOKEN } from '../../src/http/rate-limit/take-token.lua';
import { query } from '../../src/testing/test-database';
import { eventInput, industryEventInput, leadInput, phone } from '../support/builders';
import { InProcess, startInProcess, Tenant } from '../support/lanyard';

/** What a request may cost, in figures that do not depend on the machine. */

const LEADS = 100_000;

let lanyard: InProcess;
let tenant: Tenant;
let db: DataSource;
let pool: Pool;
let event: number;
let lead: string;

/** Statements that were sent since the last look, of all connections. */
let sent: QueryArrayConfig[] = [];

beforeAll(async () => {
  lanyard = await startInProcess();
  db = lanyard.app.get(DataSource);
  pool = poolOf(db);
  tenant = await lanyard.tenant();
  event = (await tenant.api.post('/events', eventInput()).expect(200)).body.results.id as number;
  const { organizationId } = tenant;
  const taken = (list: string, rows: number) => `(select list_take(${organizationId}, '${list}', ${rows}))`;
  // On a connection of its own: the server's have short timeouts.
  const fill = [
    `begin;
      insert into leads (organization_id, position, first_name)
        select ${organizationId}, ${taken('leads', LEADS)} + n, 'Ada' from generate_series(0, ${LEADS - 1}) n;
      insert into lead_activity_events (organization_id, position, event_type, lead_id)
        select ${organizationId}, ${taken('lead_activity_events', LEADS / 10)} + position, 'NOTE', id
        from leads where position < ${LEADS / 10};
      insert into events (organization_id, position, name, type, registration_enabled)
        select ${organizationId}, ${taken('events', 3000)} + n, 'n', 'EVENT', false from generate_series(0, 2999) n;
      insert into activations (organization_id, position, event_id, name, type, start_date, end_date, start_time, end_time)
        select ${organizationId}, ${taken('activations', 3000)} + n, ${event}, 'n', 'BOOTH', now(), now(), '09:00', '17:00'
        from generate_series(0, 2999) n;
      insert into tag_groups (organization_id, position, name, status, allows_multiple_selection, display_order, required,
          all_events)
        select ${organizationId}, ${taken('tag_groups', 3000)} + n, 'n', 'PUBLISHED', false, 1, false, false
        from generate_series(0, 2999) n;
      insert into tag_options (organization_id, tag_group_id, display_order, value)
        select organization_id, id, 1, 'v' from tag_groups;
      insert into event_tag_groups (organization_id, event_id, tag_group_id, position)
        select organization_id, id, (select id from tag_groups limit 1), 1 from events;
      insert into event_leads (organization_id, event_id, lead_id, position, registered, checked_in)
        select organization_id, ${event}, id, ${taken(`event_leads/${event}`, 3000)} + position, true, true
        from leads where position < 3000;
      commit`,
    'vacuum analyze',
  ];
  for (const sql of fill) await query(lanyard.config.databaseUrl as string, sql);
  lead = (await tenant.api.get('/leads', { limit: 1, offset: 500 }).expect(200)).body.results.leads[0].id as string;

  const connections = new Set<PoolClient>();
  pool.on('acquire', (client) => {
    if (connections.has(client)) return;
    connections.add(client);
    const send = client.query.bind(client) as (...args: unknown[]) => unknown;
    client.query = ((...args: [QueryArrayConfig | string]) => {
      sent.push(typeof args[0] === 'string' ? { text: args[0], rowMode: 'array' } : args[0]);
      return send(...args);
    }) as never;
  });
}, 120_000);
// The use of keys is noted a minute after the first one: now, and not within a test.
beforeEach(() => lanyard.app.get(AccessService).onApplicationShutdown());

async function statementsOf(
  request: () => PromiseLike<{ status: number }>,
  expected = 200,
): Promise<QueryArrayConfig[]> {
  sent = [];
  expect((await request()).status).toBe(expected);
  return sent;
}

const reads: [string, () => [string, Record<string, string | number>]][] = [
  ['a page of leads', () => ['/leads', { limit: 50 }]],
  ['a page in the middle', () => ['/leads', { limit: 50, offset: LEADS / 100 }]],
  ['the last page', () => ['/leads', { limit: 50, offset: LEADS / 50 - 1 }]],
  ['a lead', () => [`/leads/${lead}`, {}]],
  ['the leads of an e-mail address', () => ['/leads', { email: 'a@example.com' }]],
  ['the leads of a remote id', () => ['/leads', { remoteId: '1', integrationType: 'ZOHO' }]],
  ['the leads of both', () => ['/leads', { email: 'a@example.com', remoteId: '1', integrationType: 'ZOHO' }]],
  ['the activity of a lead', () => ['/leadActivityEvents', { leadId: lead }]],
  ['activity', () => ['/leadActivityEvents', { offset: 300 }]],
  ['events', () => ['/events', {}]],
  ['leads of an event', () => [`/events/${event}/leads`, {}]],
  ['activations', () => ['/activations', {}]],
  ['tag groups', () => ['/tagGroups', {}]],
];

describe('a read', () => {
  it.each(reads)('%s is one prepared statement that reads about a page', async (_, path) => {
    await tenant.api.get(...path());
    const statements = await statementsOf(() => tenant.api.get(...path()));
    expect(statements.map(({ name }) => typeof name)).toEqual(['string']);
    const [{ text, values = [] }] = statements as [QueryArrayConfig];
    const { plan, blocks } = await explain(text, values);
    expect(plan).not.toContain('Seq Scan');
    // The heap and the index of 50 rows, of up to 255 that are skipped, and of counts, of a table of over 10,000 blocks.
    expect(blocks).toBeLessThan(150);
  });
});

describe('a write', () => {
  it.each<[string, () => PromiseLike<{ status: number }>]>([
    ['POST /leads', () => tenant.api.post('/leads', leadInput({ phoneNumbers: [phone()] }))],
    ['PATCH /leads/:leadId', () => tenant.api.patch(`/leads/${lead}`, { jobTitle: 'x', phoneNumbers: [phone()] })],
    ['PUT /events/:eventId/leads', () => tenant.api.put(`/events/${event}/leads`, { eventLeads: [{ leadId: lead }] })],
  ])('%s is one prepared statement', async (_, request) => {
    const statements = await statementsOf(request);
    expect(statements.map(({ name }) => typeof name)).toEqual(['string']);
  });

  it.each(['email', 'remoteId'])('of 200 leads by %s is as many statements as one of one', async (matchBy) => {
    const entry = (n: number) =>
      leadInput({ email: `a${n}@example.com`, remoteId: { id: `${n}`, integrationType: 'ZOHO' } });
    const batch = (leads: object[]) => () => tenant.api.post('/leads/batch', { matchBy, leads });
    const [one, many] = [[entry(0)], Array.from({ length: 200 }, (_, n) => entry(n))];
    expect(await statementsOf(batch(one))).toHaveLength(6);
    for (const _ of ['created', 'unchanged']) expect(await statementsOf(batch(many))).toHaveLength(6);
  });

  it('of a lead that is not there is not tried again', async () => {
    const statements = await statementsOf(() => tenant.api.delete(`/leads/${randomUUID()}`), 404);
    expect(statements).toHaveLength(4); // it, what begins and ends its transaction, and who writes
  });

  it('of the catalogue is one transaction', async () => {
    const statements = await statementsOf(() => tenant.api.post('/industryEvents', industryEventInput()));
    expect(statements.length).toBeLessThanOrEqual(5);
  });
});

describe('a key', () => {
  it('costs no statement once it is known', async () => {
    const { api } = await tenant.issueKey({});
    expect((await statementsOf(() => api.get('/tagGroups'))).length).toBe(2);
    expect((await statementsOf(() => api.get('/tagGroups'))).length).toBe(1);
  });

  it('costs one call of Redis, which touches one key', async () => {
    expect(TAKE_TOKEN.match(/redis\.call\('(?!TIME)/g)).toHaveLength(3);
    const sent: unknown[][] = [];
    const redis = new RedisConnection('redis://127.0.0.1?lazyConnect=true');
    const client = redis.client as Redis;
    client.status = 'ready';
    client.sendCommand = ({ name, args: [, keys, key] }) => {
      sent.push([name, keys, key]);
      return Promise.resolve([1, 1, 1, 1]);
    };
    await new RedisTokenBucketStore(redis).take('k', { maxTokens: 1, refillRate: 1 });
    expect(sent).toEqual([['evalsha', '1', 'rl:v1:k']]);
  });
});

/** The generic plan that the server uses, and the blocks that it reads when it runs. */
async function explain(text: string, values: unknown[]): Promise<{ plan: string; blocks: number }> {
  return db.transaction(async (manager) => {
    await manager.query(`prepare measured as ${text}`);
    const literals = values.map((value) => (value === null ? 'null' : `'${String(value)}'`)).join(', ');
    const rows = await manager.query<{ 'QUERY PLAN': string }[]>(
      `explain (analyze, buffers, timing off) execute measured${literals ? `(${literals})` : ''}`,
    );
    await manager.query('deallocate measured');
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    const [, hit = '0', read = '0'] = /Buffers: shared (?:hit=(\d+))? ?(?:read=(\d+))?/.exec(plan) ?? [];
    return { plan, blocks: Number(hit) + Number(read) };
  });
}
