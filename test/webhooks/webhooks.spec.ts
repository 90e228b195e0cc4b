import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { createLog } from '../../src/observability/log';
import { Metrics } from '../../src/observability/metrics';
import { FeedReaderEntity } from '../../src/feed/changes/feed-reader.entity';
import { FeedSender } from '../../src/feed/changes/feed-sender';
import { FeedClock } from '../../src/feed/changes/feed-clock';
import { FeedReaders } from '../../src/feed/changes/feed-readers';
import { TooManyWebhooks } from '../../src/errors/exceptions';
import { WebhooksService } from '../../src/feed/webhooks/webhooks.service';
import { query } from '../../src/testing/test-database';
import { createExhibitor, leadInput } from '../support/builders';
import { asOperator } from '../support/database';
import { InProcess, startInProcess, Tenant } from '../support/lanyard';
import { type Delivery, rejectWith, Receiver, ACKNOWLEDGED } from '../support/servers/receiver';
import { waitUntil } from '../support/wait';

const SECOND = 1000;
const DAY = 86_400 * SECOND;

let lanyard: InProcess;
let sender: FeedSender;
let webhooks: WebhooksService;
let tenant: Tenant;
let receiver: Receiver;
const logged: string[] = [];
/** how far the clock of the waits is ahead */
let ahead = 0;

beforeAll(async () => {
  lanyard = await startInProcess({}, createLog('info', { write: (line: string) => void logged.push(line) }));
  sender = lanyard.app.get(FeedSender);
  Object.assign(lanyard.app.get(FeedClock), { pollIntervalMs: 25, now: () => new Date(Date.now() + ahead) });
  webhooks = lanyard.app.get(WebhooksService);
});
beforeEach(async () => {
  await lanyard.app.get(DataSource).query('update feed_readers set disabled_at = now()');
  ahead = 0;
  logged.length = 0;
  tenant = await lanyard.tenant();
  receiver = await new Receiver(tenant.api).listen();
});

const create = async (since?: 'now', resources?: string[]): Promise<string> => {
  const { id, secret } = await webhooks.create(tenant.organizationId, receiver.url, resources, since);
  receiver.secrets = [secret];
  return id;
};
const row = (id: string) => lanyard.app.get(DataSource).manager.findOneByOrFail(FeedReaderEntity, { id });
const listed = async (id: string) => (await webhooks.list(tenant.organizationId)).find((each) => each.id === id);
const newLead = async (): Promise<string> =>
  (await tenant.api.post('/leads', leadInput()).expect(200)).body.results.id as string;
/** Whoever has said yes to all that there is. */
const isComplete = async (): Promise<boolean> => (await receiver.copy.differences()).length === 0;
const messages = (from: Delivery[] = receiver.deliveries) => from.map(({ message }) => message);
const lines = (id: string) =>
  logged.filter((line) => line.includes(id)).map((line) => (JSON.parse(line) as { message: string }).message);

/** Whether a statement waits for a lock. */
const isWaiting = async (): Promise<boolean> => {
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return (await query(lanyard.config.databaseUrl as string, waiting)).length > 0;
};

describe('a delivery', () => {
  it('is signed, and says what the feed does, byte for byte', async () => {
    await tenant.import(createExhibitor().dataset);
    const { body } = await tenant.api.get('/changes').expect(200);
    await create();
    await waitUntil(() => receiver.taken.length === 2);
    const [first, end] = receiver.taken as [Delivery, Delivery];
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, ...headers } = first.headers;
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^Lanyard\/\d+\.\d+\.\d+$/) as string,
      'webhook-signature': expect.stringMatching(/^v1,[\w+/]+=*$/) as string,
    });
    expect(Object.keys(headers).sort()).toEqual([
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
      'webhook-signature',
    ]);
    expect(id).toMatch(/^msg_[\w-]{43}$/);
    expect(Number(timestamp)).toBe(Math.floor(Date.parse(first.message.timestamp) / 1000));
    expect(Object.keys(first.message)).toEqual(['type', 'timestamp', 'organizationId', 'phase', 'changes', 'hasMore']);
    const told = body.results.changes as object[];
    expect(first.message).toMatchObject({ type: 'changes', organizationId: tenant.organizationId, phase: 'snapshot' });
    expect(first.message.changes.map((change) => ({ ...change, at: '' }))).toEqual(
      told.map((change) => ({ ...change, at: '' })),
    );
    expect(end.message).toMatchObject({ phase: 'changes', changes: [], hasMore: false });
    expect(await isComplete()).toBe(true);
  });

  it('follows each change, in order, one at a time, and none is empty', async () => {
    await create('now');
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push(await newLead());
    await waitUntil(isComplete);
    const told = receiver.taken.flatMap(({ message }) => message.changes);
    expect(told.map(({ id }) => id)).toEqual(ids);
    expect(messages().every(({ changes }) => changes.length > 0)).toBe(true);
    expect(receiver.mostAtOnce).toBe(1);
  });

  it('has at most 100 changes and 256 KiB, and goes on at once', async () => {
    const leads = Array.from({ length: 150 }, (_, n) => ({
      id: randomUUID(),
      description: 'x'.repeat(n % 50 ? 9 : 60_000),
    }));
    await tenant.import({
      leads: [...leads, { id: randomUUID(), description: '✓'.repeat(65_000), address: '✓'.repeat(65_000) }],
    });
    await create(undefined, ['leads']);
    await waitUntil(() => messages(receiver.taken).some(({ phase }) => phase === 'changes'));
    const sizes = messages(receiver.taken).map(({ changes }) => ({
      count: changes.length,
      bytes: changes.reduce((sum, change) => sum + Buffer.byteLength(JSON.stringify(change)), 0),
    }));
    expect(sizes.reduce((sum, { count }) => sum + count, 0)).toBe(151);
    expect(sizes.every(({ count, bytes }) => count <= 100 && (count <= 1 || bytes <= 262_144))).toBe(true);
    expect(sizes.some(({ count, bytes }) => count === 1 && bytes > 262_144)).toBe(true);
  });
});

describe('a receiver that says no', () => {
  it('gets the same page again after 5 s, 30 s, 5 min, 30 min and then each hour, with the same id', async () => {
    receiver.answer = rejectWith(500);
    const id = await create('now');
    const lead = await newLead();
    for (const [n, seconds] of [5, 30, 300, 1800, 3600, 3600].entries()) {
      await waitUntil(async () => (await row(id)).failures === n + 1);
      const { nextAttemptAt, movedAt } = await row(id);
      const wait = (nextAttemptAt!.getTime() - movedAt!.getTime()) / SECOND;
      expect(wait).toBeGreaterThanOrEqual(seconds - 0.1);
      expect(wait).toBeLessThanOrEqual(seconds * 1.2);
      ahead = nextAttemptAt!.getTime() - Date.now();
    }
    // Otherwise this attempt might fail at the time that the clock is put to below, and the next be an hour after that.
    await waitUntil(async () => (await row(id)).failures === 7);
    expect(new Set(receiver.deliveries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await listed(id)).toMatchObject({ state: 'failing', lastStatus: 500, lastError: null });
    await tenant.api.patch(`/leads/${lead}`, { jobTitle: 'Later' }).expect(200);
    receiver.answer = ACKNOWLEDGED;
    ahead = 3 * DAY;
    await waitUntil(isComplete);
    const ids = receiver.deliveries.map(({ headers }) => headers['webhook-id']);
    expect(ids.at(-1)).not.toBe(ids[0]);
    expect(await listed(id)).toMatchObject({ state: 'active', lastStatus: 204, failingSince: null });
    expect(lines(id)).toEqual(['Webhook delivery failed', 'Webhook recovered']);
    expect(logged.join()).not.toMatch(/token=mine|whsec_|Ada/);
  });

  it.each([
    ['seconds', () => '7200', 7200],
    ['a date', () => new Date(Date.now() + 7_200_000).toUTCString(), 7198],
    ['two days', () => '172800', 86_400],
    ['nothing that can be read', () => 'soon', 5],
  ])('and asks for %s is waited for', async (_, retryAfter, seconds) => {
    receiver.answer = rejectWith(503, { 'retry-after': retryAfter() });
    const id = await create('now');
    await newLead();
    await waitUntil(async () => (await row(id)).failures === 1);
    const { nextAttemptAt, movedAt } = await row(id);
    const wait = (nextAttemptAt!.getTime() - movedAt!.getTime()) / SECOND;
    expect(wait).toBeGreaterThanOrEqual(seconds - 0.1);
    expect(wait).toBeLessThanOrEqual(seconds < 10 ? 6 : seconds + 2);
  });

  it('with 410 is disabled, and goes on where it stood when it is enabled', async () => {
    receiver.answer = rejectWith(410);
    const id = await create('now');
    await newLead();
    await waitUntil(async () => (await listed(id))?.state === 'disabled');
    expect(lines(id)).toEqual(['Webhook disabled']);
    receiver.answer = ACKNOWLEDGED;
    expect(await webhooks.enable(id)).toMatchObject({ state: 'active' });
    await waitUntil(isComplete);
  });

  it('for five days is disabled, and skips what it missed when it is told to', async () => {
    receiver.answer = rejectWith(302, { location: 'https://example.com' });
    const id = await create('now');
    await newLead();
    await waitUntil(async () => (await row(id)).failures === 1);
    ahead = 5 * DAY + SECOND;
    await waitUntil(async () => (await listed(id))?.state === 'disabled');
    receiver.answer = ACKNOWLEDGED;
    await webhooks.enable(id, 'now');
    const lead = await newLead();
    await waitUntil(() => receiver.taken.length > 0);
    expect(receiver.copy.changes.map((change) => change.id)).toEqual([lead]);
  });

  it.each([
    [
      'closes the connection',
      (receiver: Receiver) => (receiver.answer = (response) => response.destroy()),
      'ECONNRESET',
    ],
    ['is away', (receiver: Receiver) => receiver.close(), 'ECONNREFUSED'],
  ])('because it %s is failing, with the fault', async (_, act, fault) => {
    await act(receiver);
    const id = await create('now');
    await newLead();
    await waitUntil(async () => (await listed(id))?.state === 'failing');
    expect(await listed(id)).toMatchObject({ lastStatus: null, lastError: fault });
  });

  it('because it speaks no HTTP is failing', async () => {
    const server = createServer((socket) => socket.end('220 mail.example.com\r\n')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const { id } = await webhooks.create(tenant.organizationId, `http://127.0.0.1:${port}/`, undefined, 'now');
    await newLead();
    await waitUntil(async () => (await listed(id))?.state === 'failing');
    expect((await listed(id))?.lastError).toMatch(/^HPE_/);
    server.close();
  });
});

describe('a webhook', () => {
  it('begins a new first reading when its place is no longer kept', async () => {
    const id = await create('now');
    await newLead();
    await waitUntil(isComplete);
    const owner = await asOperator(lanyard.config.databaseUrl as string);
    await owner.query('truncate changes');
    await newLead();
    await waitUntil(() => messages(receiver.taken).some(({ phase }) => phase === 'snapshot'));
    await waitUntil(isComplete);
    expect(lines(id)).toEqual(['Webhook restarts with a full snapshot: its position has expired']);
  });

  it('is told of the end of the first reading of an organization without records, and of nothing before', async () => {
    await create();
    await waitUntil(() => receiver.taken.length === 1);
    expect(messages()).toMatchObject([{ phase: 'changes', changes: [], hasMore: false }]);
  });

  it('is told of the end of the first reading by a page without changes, also when something changes meanwhile', async () => {
    await newLead();
    receiver.answer = (response, delivery) =>
      void (delivery.message.phase === 'snapshot' ? newLead() : Promise.resolve('')).then(() =>
        ACKNOWLEDGED(response, delivery),
      );
    await create();
    await waitUntil(() => receiver.taken.length === 3);
    expect(messages(receiver.taken).map(({ phase, changes }) => [phase, changes.length])).toEqual([
      ['snapshot', 1],
      ['changes', 0],
      ['changes', 1],
    ]);
  });

  it('is made while an import of its organization runs', async () => {
    await lanyard.app.get(DataSource).transaction(async (manager) => {
      // What each row refers to is held like this until it is committed.
      await manager.query('select from organizations where id = $1 for key share', [tenant.organizationId]);
      await create('now');
    });
  });

  it('has two signatures while its secret rotates', async () => {
    const id = await create('now');
    const [old] = receiver.secrets as [string];
    const { secret } = (await webhooks.rotateSecret(id, 3_600_000)) as { secret: string };
    receiver.secrets = [secret, old];
    await newLead();
    await waitUntil(isComplete);
    expect(receiver.deliveries[0]?.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
    await lanyard.app.get(DataSource).query(`update feed_readers set old_expires_at = now() where id = $1`, [id]);
    receiver.secrets = [secret];
    await newLead();
    await waitUntil(isComplete);
    expect(receiver.deliveries.at(-1)?.headers['webhook-signature']).toMatch(/^v1,\S+$/);
  });

  it('that is disabled while its receiver thinks counts the yes that follows', async () => {
    let answer = (): void => undefined;
    receiver.answer = (response) => (answer = () => void response.writeHead(200).end());
    const id = await create('now');
    await newLead();
    await waitUntil(() => receiver.deliveries.length === 1);
    await webhooks.disable(id);
    answer();
    await waitUntil(async () => (await row(id)).lastSuccessAt !== null);
    expect(await listed(id)).toMatchObject({ state: 'disabled', lastStatus: 200 });
    receiver.answer = ACKNOWLEDGED;
    await webhooks.enable(id);
    await newLead();
    await waitUntil(isComplete);
    expect(receiver.taken).toHaveLength(2);
  });

  it('is one of ten at most, also of those that are made at once', async () => {
    const made = await Promise.allSettled(Array.from({ length: 13 }, () => create('now')));
    const refused = made.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(3);
    expect(refused.every((each) => (each as PromiseRejectedResult).reason instanceof TooManyWebhooks)).toBe(true);
  });
});

describe('what happens during a delivery', () => {
  /** A webhook whose receiver thinks until it is told what to answer. */
  const held = async (): Promise<{ id: string; answer: (status: number) => void }> => {
    let response: ServerResponse | undefined;
    receiver.answer = (waiting) => (response = waiting);
    const id = await create('now');
    await newLead();
    await waitUntil(() => response !== undefined);
    const answer = (status: number): void => {
      const waiting = response;
      response = undefined;
      waiting?.writeHead(status).end();
    };
    return { id, answer };
  };

  it('an enabled webhook begins anew at once, whatever the try before it ends with', async () => {
    const { id, answer } = await held();
    answer(500);
    await waitUntil(async () => (await row(id)).failures === 1);
    ahead = 6 * DAY;
    await waitUntil(() => receiver.atOnce === 1);
    await webhooks.enable(id);
    receiver.answer = ACKNOWLEDGED;
    answer(500);
    // The receiver is complete a moment before its webhook's row says so.
    await waitUntil(async () => (await isComplete()) && (await listed(id))?.lastStatus === 204);
    expect(await listed(id)).toMatchObject({ state: 'active' });
    expect(lines(id)).toEqual(['Webhook delivery failed']);
  });

  it('a webhook that is disabled has no line about the answer', async () => {
    const { id, answer } = await held();
    await webhooks.disable(id);
    answer(500);
    await waitUntil(() => receiver.atOnce === 0);
    await sender.poll();
    expect(await listed(id)).toMatchObject({ state: 'disabled' });
    expect(lines(id)).toEqual([]);
  });

  it('a connection to PostgreSQL that is lost ends it, and it is sent again', async () => {
    await held();
    await lanyard.app.get(DataSource)
      .query(`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and classid = 7261915
        and database = (select oid from pg_database where datname = current_database())`);
    await waitUntil(() => receiver.atOnce === 0);
    receiver.answer = ACKNOWLEDGED;
    await waitUntil(isComplete);
    expect(receiver.mostAtOnce).toBe(1);
  });
});

describe('the age of the oldest change that waits', () => {
  const age = async (): Promise<number> => {
    const metric = lanyard.app.get(Metrics).registry.getSingleMetric('lanyard_webhook_oldest_change_seconds');
    return ((await metric?.get()) as { values: { value: number }[] }).values[0]?.value as number;
  };

  beforeEach(() => lanyard.app.get(DataSource).query('delete from feed_readers'));

  it.each([
    ['deleted', (id: string) => webhooks.delete(id)],
    ['told to skip it', (id: string) => webhooks.enable(id, 'now')],
  ])('is none when the webhook is %s', async (_, act) => {
    receiver.answer = rejectWith(500);
    const id = await create('now');
    await newLead();
    await waitUntil(async () => (await row(id)).failures === 1);
    ahead = 3 * SECOND;
    expect(await age()).toBeGreaterThan(2);
    await act(id);
    await waitUntil(async () => (await age()) === 0);
  });

  it('counts a webhook that failed and then was disabled', async () => {
    receiver.answer = rejectWith(410);
    const id = await create('now');
    await newLead();
    await waitUntil(async () => (await listed(id))?.state === 'disabled');
    ahead = 3 * SECOND;
    expect(await age()).toBeGreaterThan(2);
  });

  it('counts changes after a webhook was disabled, and none before', async () => {
    const id = await create('now');
    await newLead();
    await waitUntil(isComplete);
    await webhooks.disable(id);
    expect(await age()).toBe(0);
    await newLead();
    ahead = 3 * SECOND;
    expect(await age()).toBeGreaterThan(2);
    ahead = 0;
    await webhooks.enable(id);
    await waitUntil(isComplete);
    await waitUntil(async () => (await age()) === 0);
  });
});

describe('the number of webhooks', () => {
  it('is counted by state', async () => {
    await lanyard.app.get(DataSource).query('delete from feed_readers');
    await webhooks.disable(await create('now'));
    // The receiver verifies the signatures of the webhook that was created last.
    await create('now');
    receiver.answer = rejectWith(500);
    await newLead();
    await waitUntil(async () => (await webhooks.list(tenant.organizationId)).some(({ state }) => state === 'failing'));
    const metric = await lanyard.app.get(Metrics).registry.getSingleMetric('lanyard_webhooks')?.get();
    const counts = metric?.values.map(({ labels, value }) => [labels.state, value]);
    expect(Object.fromEntries(counts ?? [])).toMatchObject({ active: 0, failing: 1, disabled: 1 });
  });
});

describe('other webhooks and requests', () => {
  it('do not wait for a webhook whose changes cannot be read', async () => {
    const broken = await create('now');
    await lanyard.app.get(DataSource).query(`update feed_readers set cursor = 'broken' where id = $1`, [broken]);
    await create('now');
    await newLead();
    await waitUntil(isComplete);
  });

  it('do not run one after another because a webhook reads large records', async () => {
    const leads = Array.from({ length: 30 }, () => ({ id: randomUUID(), description: 'x'.repeat(60_000) }));
    await tenant.import({ leads });
    await create();
    await waitUntil(() => messages(receiver.taken).some(({ phase }) => phase === 'changes'));
    await lanyard.app.get(DataSource).transaction(async (manager) => {
      await manager.query('select from leads where id = $1 for update', [leads[0]?.id]);
      let isPatched = false;
      void tenant.api.patch(`/leads/${leads[0]?.id}`, { jobTitle: 'Later' }).then(() => (isPatched = true));
      await waitUntil(isWaiting);
      await tenant.api.get('/leads', { limit: 1 }).expect(200);
      expect(isPatched).toBe(false);
    });
  });
});

describe('two servers', () => {
  it('send on when the one that leads cannot poll, such as on a schema that it does not know', async () => {
    const readers = lanyard.app.get(FeedReaders);
    const failing = jest.spyOn(readers, 'due').mockRejectedValue(new Error('column does not exist'));
    await create('now');
    await newLead();
    const second = await startInProcess({ databaseUrl: lanyard.config.databaseUrl });
    second.app.get(FeedClock).pollIntervalMs = 25;
    await waitUntil(isComplete);
    failing.mockRestore();
    await second.stop();
    await newLead();
    await waitUntil(isComplete);
  });

  it('send as one, and the other goes on when the first ends', async () => {
    const second = await startInProcess({ databaseUrl: lanyard.config.databaseUrl });
    await create('now');
    for (let n = 0; n < 3; n++) await newLead();
    await waitUntil(isComplete);
    expect(receiver.mostAtOnce).toBe(1);
    let held = 0;
    receiver.answer = () => void held++;
    await newLead();
    await waitUntil(() => held === 1);
    await sender.stop();
    receiver.answer = ACKNOWLEDGED;
    await waitUntil(isComplete);
    expect(receiver.mostAtOnce).toBe(1);
    await second.stop();
  });

  it('send nothing that was read when they were told to stop', async () => {
    await sender.stop();
    const last = await startInProcess({ databaseUrl: lanyard.config.databaseUrl });
    const id = await create('now');
    const lead = await newLead();
    await waitUntil(async () => (await isComplete()) && (await row(id)).caughtUpTo !== null);
    const delivered = receiver.deliveries.length;
    const db = await asOperator(lanyard.config.databaseUrl as string);
    let stopped: Promise<void> | undefined;
    await db.transaction(async (manager) => {
      await manager.query('lock table leads in access exclusive mode');
      // The server is to read the lead, for which it waits now.
      await query(
        lanyard.config.databaseUrl as string,
        `insert into changes (organization_id, resource, operation, id)
          select organization_id, resource, 'u', id from changes where id = '${lead}' limit 1`,
      );
      await waitUntil(isWaiting);
      stopped = last.app.get(FeedSender).stop();
    });
    await stopped;
    expect(receiver.deliveries).toHaveLength(delivered);
    await last.stop();
  });
});
