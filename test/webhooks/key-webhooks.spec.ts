import { DataSource } from 'typeorm';
import { ApiKeysService } from '../../src/access/api-keys.service';
import { FeedClock } from '../../src/feed/changes/feed-clock';
import { FeedReaderEntity } from '../../src/feed/changes/feed-reader.entity';
import { KeyReceivers } from '../../src/feed/webhooks/key-receivers';
import { ReceiverLookup } from '../../src/feed/webhooks/receiver-lookup';
import { KeyWebhooksService } from '../../src/feed/webhooks/key-webhooks.service';
import { WebhookOfKey, WebhooksService } from '../../src/feed/webhooks/webhooks.service';
import { Config } from '../../src/config';
import { leadInput } from '../support/builders';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { Receiver } from '../support/servers/receiver';
import { waitUntil } from '../support/wait';

interface Webhook {
  id: string;
  url: string;
  secret: string;
}

let lanyard: InProcess;
let tenant: Tenant;
let receiver: Receiver;

beforeAll(async () => {
  lanyard = await startInProcess();
  Object.assign(lanyard.app.get(FeedClock), { pollIntervalMs: 25 });
});
beforeEach(async () => {
  tenant = await lanyard.tenant();
  receiver = await new Receiver(tenant.api).listen();
});

type Api = Tenant['api'];
const register = async (api: Api = tenant.api, body: object = {}): Promise<Webhook> => {
  const response = await api.post('/webhooks', { url: receiver.url, ...body }).expect(200);
  const { results } = response.body as { results: Webhook };
  return results;
};
const idsOf = async (api: Api): Promise<string[]> => {
  const { body } = await api.get('/webhooks').expect(200);
  return (body as { results: { webhooks: Webhook[] } }).results.webhooks.map(({ id }) => id);
};
const keys = () => lanyard.app.get(ApiKeysService);
const webhooks = () => lanyard.app.get(WebhooksService);
const isStored = async (id: string): Promise<boolean> =>
  (await lanyard.app.get(DataSource).manager.countBy(FeedReaderEntity, { id })) > 0;

describe('a webhook that a key registers', () => {
  it('shows its secret once, and its URL without the query', async () => {
    const { secret, ...registered } = await register();
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
    expect(Object.keys(registered)).toEqual([
      'id',
      'url',
      'resources',
      'state',
      'lastSuccessAt',
      'lastStatus',
      'lastError',
      'failingSince',
      'createdAt',
    ]);
    expect(registered.url).toBe(receiver.url.replace(/\?.*/, ''));
    const { body } = await tenant.api.get(`/webhooks/${registered.id}`).expect(200);
    expect(Object.keys((body as { results: object }).results)).toEqual(Object.keys(registered));
    const page = await tenant.api.get('/webhooks').expect(200);
    expect(page.body).toMatchObject({
      pagination: { limit: 20, offset: 0 },
      results: { webhooks: [{ id: registered.id }], total: 1 },
    });
  });

  it('gets the changes of its organization, signed, until it is deleted', async () => {
    const { id, secret } = await register(tenant.api, { since: 'now', resources: ['leads'] });
    receiver.secrets = [secret];
    await tenant.api.post('/leads', leadInput()).expect(200);
    await waitUntil(() => receiver.taken.length > 0);
    expect(receiver.taken[0]?.message.changes).toMatchObject([{ resource: 'leads', operation: 'created' }]);
    await tenant.api.delete(`/webhooks/${id}`).expect(200, { status: 200, results: {} });
    await tenant.api.delete(`/webhooks/${id}`).expect(404);
    expect(await isStored(id)).toBe(false);
  });

  it('does not exist for other keys, nor for other organizations', async () => {
    const { id } = await register();
    const other = await lanyard.tenant();
    for (const { api } of [await tenant.issueKey({}), other]) {
      expect(await idsOf(api)).toEqual([]);
      await api.get(`/webhooks/${id}`).expect(404, { status: 404, error: 'Not Found' });
      await api.delete(`/webhooks/${id}`).expect(404);
    }
    expect(await idsOf(tenant.api)).toEqual([id]);
  });

  it('is registered, listed and deleted with scope read, and not with scope capture', async () => {
    const read = await tenant.issueKey({ scope: 'read' });
    const { id } = await register(read.api);
    expect(await idsOf(read.api)).toEqual([id]);
    await read.api.delete(`/webhooks/${id}`).expect(200);
    const { api } = await tenant.issueKey({ scope: 'capture' });
    await api.post('/webhooks', { url: receiver.url }).expect(403);
    await api.get('/webhooks').expect(403);
  });

  it('is the sixth of an organization, and then 409', async () => {
    const { api } = await tenant.issueKey({});
    for (const each of [tenant.api, api, api, api, api]) await register(each);
    const text = 'The organization has the maximum number of webhooks';
    await api.post('/webhooks', { url: receiver.url }).expect(409, { status: 409, error: text });
    for (let n = 0; n < 5; n++) await webhooks().create(tenant.organizationId, receiver.url);
    await expect(webhooks().create(tenant.organizationId, receiver.url)).rejects.toThrow('maximum of 10');
  });

  it('has no secret in the response that is replayed for an Idempotency-Key', async () => {
    const send = () => tenant.api.post('/webhooks', { url: receiver.url }).set('Idempotency-Key', 'flow-1').expect(200);
    const { body: first } = await send();
    const { results } = first as { results: Webhook };
    const replay = await send();
    expect(replay.headers['idempotency-replayed']).toBe('true');
    expect(replay.body).toEqual({ status: 200, results: { ...results, secret: null } });
    expect(results.secret).toMatch(/^whsec_/);
    const stored = await lanyard.app.get(DataSource).query<object[]>('select answer from idempotent_answers');
    expect(JSON.stringify(stored)).not.toContain('whsec_');
  });

  it('is in the audit log with its key', async () => {
    const { id } = await register();
    await tenant.api.delete(`/webhooks/${id}`).expect(200);
    const entries = await lanyard.app
      .get(DataSource)
      .query<object[]>('select key_id as "keyId", operation, change from audit_log where id = $1 order by seq', [id]);
    expect(entries).toEqual([
      { keyId: tenant.keyId, operation: 'createWebhook', change: 'c' },
      { keyId: tenant.keyId, operation: 'deleteWebhook', change: 'd' },
    ]);
  });

  it('is the operator’s to see and to delete, and has no other secret', async () => {
    const { id } = await register();
    expect(await webhooks().list(tenant.organizationId)).toMatchObject([{ id, keyIds: [tenant.keyId] }]);
    await expect(webhooks().rotateSecret(id, 1000)).rejects.toThrow(WebhookOfKey);
    await webhooks().delete(id);
    expect(await idsOf(tenant.api)).toEqual([]);
  });
});

describe('the life of a webhook that a key registers', () => {
  it('ends when the key is revoked, and nothing is sent any more', async () => {
    const { id: keyId, api } = await tenant.issueKey({});
    const { id } = await register(api, { since: 'now' });
    await keys().revoke(keyId);
    await waitUntil(async () => !(await isStored(id)));
    await tenant.api.post('/leads', leadInput()).expect(200);
    const marker = await register(tenant.api, { since: 'now', url: `${receiver.url}&marker` });
    await tenant.api.post('/leads', leadInput()).expect(200);
    await waitUntil(() => receiver.taken.length > 0);
    expect(receiver.taken).toHaveLength(1);
    expect(await isStored(marker.id)).toBe(true);
  });

  it('ends when the key has expired', async () => {
    const { id: keyId, api } = await tenant.issueKey({});
    const { id } = await register(api);
    const { organizationId } = tenant;
    await lanyard.app
      .get(DataSource)
      .query('update api_keys set expires_at = now() where organization_id = $1 and id = $2', [organizationId, keyId]);
    await waitUntil(async () => !(await isStored(id)));
  });

  it('goes on with the successor of a rotated key, and both keys see and delete it', async () => {
    const first = await tenant.issueKey({});
    const [kept, deleted] = [await register(first.api), await register(first.api)];
    const rotated = await lanyard.app.get(KeyWebhooksService).rotateKey(first.id, 3600);
    expect(rotated?.webhooks).toEqual([kept.id, deleted.id]);
    const successor = lanyard.client(rotated!.key);
    expect(await idsOf(successor)).toEqual([kept.id, deleted.id]);
    await first.api.delete(`/webhooks/${deleted.id}`).expect(200);
    expect(await idsOf(successor)).toEqual([kept.id]);
    await keys().revoke(first.id);
    const another = await tenant.issueKey({});
    const marker = await register(another.api);
    await keys().revoke(another.id);
    await waitUntil(async () => !(await isStored(marker.id)));
    expect(await idsOf(successor)).toEqual([kept.id]);
  });

  it('ends with a rotation of a key that has leaked', async () => {
    const { id: keyId, api } = await tenant.issueKey({});
    const { id } = await register(api);
    const rotated = await lanyard.app.get(KeyWebhooksService).rotateKey(keyId, 3600, { deletesWebhooks: true });
    expect(rotated?.webhooks).toEqual([id]);
    expect(await idsOf(api)).toEqual([]);
    expect(await idsOf(lanyard.client(rotated!.key))).toEqual([]);
  });

  it('goes on with the old key when the new one is revoked during the overlap', async () => {
    const { id: keyId, api } = await tenant.issueKey({});
    const { id } = await register(api);
    const rotated = await lanyard.app.get(KeyWebhooksService).rotateKey(keyId, 3600);
    await keys().revoke(rotated!.id);
    const another = await tenant.issueKey({});
    const marker = await register(another.api);
    await keys().revoke(another.id);
    await waitUntil(async () => !(await isStored(marker.id)));
    expect(await idsOf(api)).toEqual([id]);
  });
});

describe('the URL of a webhook that a key registers', () => {
  const refusal = async (url: unknown, api: Api = tenant.api) => {
    const { status, body, headers } = await api.post('/webhooks', { url });
    expect({ status, body: body as object }).toEqual({
      status: 400,
      body: { status: 400, error: "Missing or invalid 'url'" },
    });
    expect(headers['lanyard-fault']).toBe('body url');
    return headers['lanyard-fault-reason'];
  };

  it.each([
    ['flows.example.com', 'format'],
    ['ftp://127.0.0.1/', 'format'],
    ['https://ada:secret@127.0.0.1/', 'format'],
    ['http://192.0.2.1/', 'range'],
    ['https://169.254.169.254/', 'range'],
    ['https://[fe80::1]/', 'range'],
    ['https://[::ffff:169.254.169.254]/', 'range'],
    ['http://169.254.1.1/', 'range'],
    ['https://nobody.invalid/', 'range'],
    ['http://8.8.8.8/', 'format'],
    [undefined, 'missing'],
    [7, 'type'],
  ])('%s is wrong: %s', async (url, reason) => {
    expect(await refusal(url)).toBe(reason);
  });

  it('leads to no private address unless the operator allows it', async () => {
    const other = await startInProcess({ apiWebhookPrivate: 'off' });
    const { api } = await other.tenant();
    for (const url of [receiver.url, 'https://10.0.0.1/', 'https://localhost/', 'https://[fd12::1]/']) {
      expect(await refusal(url, api)).toBe('range');
    }
    expect(await refusal('http://8.8.8.8/', api)).toBe('format');
  });

  it('is checked at every delivery, too', async () => {
    const { id } = await register();
    await lanyard.app
      .get(DataSource)
      .query("update feed_readers set url = 'http://8.8.8.8/', next_attempt_at = null where id = $1", [id]);
    await waitUntil(async () => {
      const { body } = await tenant.api.get(`/webhooks/${id}`);
      return (body as { results: { lastError: string } }).results.lastError === 'address not allowed';
    });
    const { body } = await tenant.api.get(`/webhooks/${id}`).expect(200);
    expect(body).toMatchObject({ results: { state: 'failing', lastStatus: null } });
  });

  it('has one place that decides which protocol may lead where', async () => {
    const url = new URL('http://127.0.0.1/');
    expect(await new KeyReceivers(new Config()).allowsProtocol(url)).toBe(false);
    expect(await new KeyReceivers(new Config({ apiWebhookPrivate: 'on' })).allowsProtocol(url)).toBe(true);
    expect(await new ReceiverLookup({ allowPrivate: true, allowPublic: false }).allowsHost('8.8.8.8')).toBe(false);
  });
});

describe('the resources of a webhook that a key registers', () => {
  it.each([[['leads', 'leads']], [['venues']], [[]], ['leads']])('%j are wrong', async (resources) => {
    const response = await tenant.api.post('/webhooks', { url: receiver.url, resources }).expect(400);
    expect(response.body).toEqual({ status: 400, error: "Missing or invalid 'resources'" });
  });
});
