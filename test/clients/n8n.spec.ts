import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Lanyard as LanyardNode } from '../../clients/n8n/nodes/Lanyard/Lanyard.node';
import { LanyardTrigger } from '../../clients/n8n/nodes/Lanyard/LanyardTrigger.node';
import { LanyardApi } from '../../clients/n8n/credentials/LanyardApi.credentials';
import type { INodeExecutionData, IDataObject } from '../../clients/n8n/nodes/Lanyard/n8n-workflow';
import { isSigned } from '../../clients/n8n/nodes/Lanyard/signature';
import { FeedClock } from '../../src/feed/changes/feed-clock';
import { KeyWebhooksService } from '../../src/feed/webhooks/key-webhooks.service';
import { createExhibitor, leadInput, unique } from '../support/builders';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { StandIn } from '../support/n8n';
import { waitUntil } from '../support/wait';

let lanyard: InProcess;
let tenant: Tenant;
let n8n: StandIn;
/** Milliseconds that the clock of the retries is ahead. */
let ahead = 0;
const node = new LanyardNode();

beforeAll(async () => {
  lanyard = await startInProcess();
  Object.assign(lanyard.app.get(FeedClock), { pollIntervalMs: 25, now: () => new Date(Date.now() + ahead) });
});
beforeEach(async () => {
  tenant = await lanyard.tenant();
  n8n = new StandIn(lanyard, tenant.key);
});

const run = async (
  items: IDataObject[],
  parameters: IDataObject | ((json: IDataObject) => IDataObject),
  continues = false,
): Promise<INodeExecutionData[]> => {
  const [output] = await node.execute.call(n8n.forItems(items, parameters, continues));
  return output ?? [];
};
const upsert = (items: IDataObject[], more: IDataObject = {}, continues = false) =>
  run(items, (json) => ({ resource: 'lead', operation: 'upsert', matchBy: 'email', fields: json, ...more }), continues);

describe('the node', () => {
  it('creates and updates leads in batches of 200, each paired with its item', async () => {
    const items = Array.from({ length: 201 }, (_, n) => leadInput({ email: `lead${n}@example.com` }) as IDataObject);
    const created = await upsert(items);
    expect(n8n.sent).toHaveLength(2);
    expect(created.map(({ json, pairedItem }) => [json.outcome, json.email, pairedItem])).toEqual(
      items.map(({ email }, item) => ['created', email, { item }]),
    );
    const [updated] = await upsert([{ email: 'LEAD7@example.com', jobTitle: 'Buyer' }]);
    expect(updated?.json).toMatchObject({ outcome: 'updated', id: created[7]?.json.id, jobTitle: 'Buyer' });
  });

  it('stores what is right beside an item that is wrong, and says what is wrong, if the workflow is to continue', async () => {
    const items = [
      leadInput({ email: 'a@example.com' }),
      { email: 'no address' },
      leadInput({ email: 'b@example.com' }),
    ];
    const results = await upsert(items as IDataObject[], {}, true);
    expect(results.map(({ json }) => json.outcome ?? json.error)).toEqual([
      'created',
      expect.stringMatching(/^400 Missing or invalid 'leads\[0\]\.email' \(body leads\[0\]\.email: format\)/),
      'created',
    ]);
    await expect(upsert(items as IDataObject[])).rejects.toThrow("400 Missing or invalid 'leads[1].email'");
  });

  it('has one effect for one Idempotency-Key', async () => {
    const form = [leadInput({ email: undefined }) as IDataObject];
    const send = () => upsert(form, { matchBy: 'none', options: { idempotencyKey: 'form-1' } });
    const [[first], [second]] = [await send(), await send()];
    expect(second?.json.id).toBe(first?.json.id);
    const { body } = await tenant.api.get('/leads').expect(200);
    expect((body as { results: { total: number } }).results.total).toBe(1);
  });

  it('gets, finds, updates and deletes leads, and sets the ID of a CRM', async () => {
    const email = `${unique()}@example.com`;
    const [created] = await upsert([leadInput({ email }) as IDataObject]);
    const leadId = created?.json.id;
    const on = (operation: string, more: IDataObject = {}) =>
      run([{}], { resource: 'lead', operation, leadId, ...more });
    expect(await on('get')).toMatchObject([{ json: { id: leadId, email }, pairedItem: { item: 0 } }]);
    expect(await on('update', { fields: '{"jobTitle":"Buyer"}' })).toMatchObject([{ json: { jobTitle: 'Buyer' } }]);
    await on('setRemoteId', { remoteId: 'hs-1', integrationType: 'HUB_SPOT' });
    const byCrm = { remoteId: 'hs-1', integrationType: 'HUB_SPOT', limit: 50 };
    expect(await on('find', byCrm)).toMatchObject([{ json: { id: leadId } }]);
    expect(await on('find', { email: email.toUpperCase(), limit: 50 })).toMatchObject([{ json: { id: leadId } }]);
    expect(await on('getMany', { limit: 1 })).toHaveLength(1);
    expect(await on('delete')).toEqual([{ json: { deleted: true, id: leadId }, pairedItem: { item: 0 } }]);
    await expect(on('get')).rejects.toThrow('404 Not Found (path leadId: not-found)');
    await expect(on('find')).rejects.toThrow('Give an e-mail address or a CRM ID');
  });

  it('checks leads in, those of one event in one request', async () => {
    const { expo } = await tenant.import(createExhibitor().dataset);
    const leads = await upsert([1, 2, 3].map((n) => leadInput({ email: `${n}@example.com` }) as IDataObject));
    n8n.sent.length = 0;
    const results = await run(
      leads.map(({ json }) => json),
      ({ id }) => ({
        resource: 'event',
        operation: 'checkIn',
        eventId: expo,
        leadId: id,
        registered: true,
        checkedIn: true,
      }),
    );
    expect(n8n.sent).toHaveLength(1);
    expect(results).toHaveLength(3);
    const { body } = await tenant.api.get(`/events/${expo}/leads`).expect(200);
    const { eventLeads } = (body as { results: { eventLeads: { leadId: string; checkedIn: boolean }[] } }).results;
    for (const { json } of leads)
      expect(eventLeads).toContainEqual({ leadId: json.id, registered: true, checkedIn: true });
  });

  it('waits as Retry-After says, and no longer than it may', async () => {
    const { key } = await tenant.issueKey({ maxTokens: 1, refillRate: 2 });
    n8n.key = key;
    const get = (maxWait: number) =>
      run([{}, {}], { resource: 'event', operation: 'getMany', limit: 1, options: { maxWait } });
    await expect(get(0)).rejects.toThrow(/^429 Too Many Requests/);
    await get(10);
    expect(n8n.sent.length).toBeGreaterThan(3);
  });

  it('reads changes since a cursor', async () => {
    await upsert([leadInput({ email: 'ada@example.com' }) as IDataObject]);
    const read = async (cursor?: unknown) => {
      const [page] = await run([{}], { resource: 'changes', operation: 'get', resources: 'leads', cursor });
      return page?.json as { changes: IDataObject[]; cursor: string };
    };
    const first = await read();
    expect(first.changes).toHaveLength(1);
    expect((await read(first.cursor)).changes).toEqual([]);
  });
});

describe('the trigger', () => {
  const trigger = new LanyardTrigger();
  const { checkExists, create, delete: remove } = trigger.webhookMethods.default;
  let server: Server;
  let status: number;
  /** What workflows have started with. */
  let started: INodeExecutionData[][];
  let received: { headers: IncomingHttpHeaders; body: Buffer }[];
  /** Whether workflows end well. */
  let isKilled: boolean;
  let parameters: IDataObject;

  beforeEach(async () => {
    [started, received, isKilled, status] = [[], [], false, 200];
    parameters = { resources: ['leads'], snapshot: false };
    server = createServer((request, response) => {
      void buffer(request).then(async (body) => {
        received.push({ headers: request.headers, body });
        if (isKilled) return void request.socket.destroy();
        const answered = await deliver(request.headers, body);
        response.writeHead(answered).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    n8n.webhookUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook/1`;
  });
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  const deliver = async (headers: IncomingHttpHeaders, body: Buffer): Promise<number> => {
    let own: number | undefined;
    const context = n8n.forWebhook(parameters, headers, body, (code) => (own = code));
    const { workflowData } = await trigger.webhook.call(context);
    if (workflowData) started.push(...workflowData);
    return own ?? status;
  };
  const switchOn = async (): Promise<void> => {
    if (!(await checkExists.call(n8n.forHooks(parameters)))) await create.call(n8n.forHooks(parameters));
  };
  const count = async (): Promise<number> => {
    const { body } = await tenant.api.get('/webhooks').expect(200);
    return (body as { results: { total: number } }).results.total;
  };
  const addLead = async (): Promise<string> => {
    const { body } = await tenant.api.post('/leads', leadInput()).expect(200);
    return (body as { results: { id: string } }).results.id;
  };
  const idsStarted = () => started.flat().map(({ json }) => json.id);

  it('registers one webhook, however often it is switched on, and leaves none', async () => {
    await switchOn();
    await switchOn();
    expect(await count()).toBe(1);
    await remove.call(n8n.forHooks(parameters));
    expect(await count()).toBe(0);
    expect(n8n.staticData).toEqual({});
    await remove.call(n8n.forHooks(parameters));
    await switchOn();
    expect(await count()).toBe(1);
  });

  it('gives one item for each change', async () => {
    await switchOn();
    const id = await addLead();
    await waitUntil(() => started.length > 0);
    expect(started).toMatchObject([[{ json: { resource: 'leads', operation: 'created', id, phase: 'changes' } }]]);
  });

  it('gets what is there first, with its end marked, if it is asked for', async () => {
    const id = await addLead();
    parameters = { resources: ['leads'], snapshot: true, marksEnd: true };
    await switchOn();
    await waitUntil(() => started.length === 2);
    expect(started).toMatchObject([[{ json: { id, phase: 'snapshot' } }], [{ json: { phase: 'snapshotEnd' } }]]);
  });

  it('loses nothing when n8n is killed in the middle of a workflow', async () => {
    await switchOn();
    isKilled = true;
    const id = await addLead();
    await waitUntil(() => received.length > 0);
    await waitUntil(async () => {
      const { body } = await tenant.api.get('/webhooks').expect(200);
      return (body as { results: { webhooks: IDataObject[] } }).results.webhooks[0]?.state === 'failing';
    });
    isKilled = false;
    ahead = 10_000;
    await waitUntil(() => started.length > 0);
    expect(idsStarted()).toEqual([id]);
  });

  it('goes on with the new key when the key is rotated', async () => {
    await switchOn();
    const rotated = await lanyard.app.get(KeyWebhooksService).rotateKey(tenant.keyId, 0);
    n8n.key = rotated!.key;
    expect(await checkExists.call(n8n.forHooks(parameters))).toBe(true);
    const { body } = await lanyard.client(rotated!.key).post('/leads', leadInput()).expect(200);
    await waitUntil(() => started.length > 0);
    expect(idsStarted()).toEqual([(body as { results: IDataObject }).results.id]);
  });

  it('starts nothing with a message that is not signed, or not of now', async () => {
    await switchOn();
    await addLead();
    await waitUntil(() => started.length > 0);
    const { headers, body } = received[0]!;
    started.length = 0;
    expect(await deliver({ ...headers, 'webhook-signature': 'v1,AAAA' }, body)).toBe(401);
    expect(await deliver(headers, Buffer.concat([body, Buffer.from(' ')]))).toBe(401);
    expect(started).toEqual([]);
    const secret = String(n8n.staticData.secret);
    expect(isSigned(headers, body, ['whsec_b2xk', secret])).toBe(true);
    expect(isSigned(headers, body, [secret], Date.now() + 600_000)).toBe(false);
  });
});

it('has a credential that is tried with a request of any key', () => {
  const { authenticate, test } = new LanyardApi();
  expect(authenticate.properties.headers).toEqual({ 'x-api-key': '={{$credentials.apiKey}}' });
  expect(test.request.url).toBe('/events');
});
