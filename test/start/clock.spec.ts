import { randomUUID } from 'node:crypto';
import { WebhooksService } from '../../src/feed/webhooks/webhooks.service';
import { leadInput } from '../support/builders';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { Receiver } from '../support/servers/receiver';
import { waitUntil } from '../support/wait';

const HOUR_MS = 3_600_000;

/** Everything of Jest's clock but the date. */
const REAL = [
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'setTimeout',
  'clearTimeout',
] as const;

/** As after a wrong time server, or a virtual machine that was restored. The clock of PostgreSQL stays. */
describe('a server whose clock goes back an hour', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  let receiver: Receiver;
  let cursor: string;
  const ids: string[] = [];
  const idempotencyKey = randomUUID();

  const create = async (key: string): Promise<string> => {
    const { body } = await tenant.api.post('/leads', leadInput()).set('Idempotency-Key', key).expect(200);
    return body.results.id as string;
  };

  beforeAll(async () => {
    lanyard = await startInProcess();
    tenant = await lanyard.tenant();
    receiver = await new Receiver(tenant.api).listen();
    await lanyard.app.get(WebhooksService).create(tenant.organizationId, receiver.url, undefined, 'now');
    ids.push(await create(idempotencyKey));
    await waitUntil(() => receiver.taken.length === 1);
    ({ cursor } = (await tenant.api.get('/changes').expect(200)).body.results as { cursor: string });
    jest.useFakeTimers({ now: Date.now() - HOUR_MS, doNotFake: [...REAL] });
    ids.push(await create(randomUUID()));
  });
  afterAll(() => {
    jest.useRealTimers();
    return receiver.close();
  });

  it('lists records in the order of their arrival', async () => {
    const { body } = await tenant.api.get('/leads').expect(200);
    const listed = (body.results.leads as { id: string }[]).map(({ id }) => id);
    expect([ids, [...ids].reverse()]).toContainEqual(listed);
    expect(body.results.total).toBe(2);
  });

  it('has new changes after the cursors of before, and sends them to webhooks', async () => {
    const { body } = await tenant.api.get('/changes', { cursor }).expect(200);
    expect((body.results.changes as { id: string }[]).map(({ id }) => id)).toEqual([ids[1]]);
    await waitUntil(() => receiver.taken.length === 2);
  });

  it('repeats the response of an Idempotency-Key of before', async () => {
    expect(await create(idempotencyKey)).toBe(ids[0]);
  });

  it('gives keys of before their tokens again', async () => {
    const { issueKey } = tenant;
    jest.setSystemTime(Date.now() + HOUR_MS);
    const { api } = await issueKey({ maxTokens: 2, refillRate: 10 });
    const status = async () => (await api.get('/leads', { limit: 1 })).status;
    while ((await status()) === 200);
    jest.setSystemTime(Date.now() - HOUR_MS);
    await waitUntil(async () => {
      jest.setSystemTime(Date.now() + 50);
      return (await status()) === 200;
    });
  });
});
