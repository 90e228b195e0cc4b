import { DataSource } from 'typeorm';
import { FeedClock } from '../../src/feed/changes/feed-clock';
import { FeedReaderEntity } from '../../src/feed/changes/feed-reader.entity';
import { WebhooksService } from '../../src/feed/webhooks/webhooks.service';
import { leadInput } from '../support/builders';
import { InProcess, startInProcess, Tenant } from '../support/lanyard';
import { rejectWith, Receiver, ACKNOWLEDGED } from '../support/servers/receiver';
import { waitUntil } from '../support/wait';

const SECOND = 1000;
const DAY = 86_400 * SECOND;

let lanyard: InProcess;
let webhooks: WebhooksService;
let tenant: Tenant;
let receiver: Receiver;
/** How many milliseconds the clock of the waits is ahead. */
let ahead = 0;

beforeAll(async () => {
  lanyard = await startInProcess();
  Object.assign(lanyard.app.get(FeedClock), { pollIntervalMs: 25, now: () => new Date(Date.now() + ahead) });
  webhooks = lanyard.app.get(WebhooksService);
});
beforeEach(async () => {
  await lanyard.app.get(DataSource).query('update feed_readers set disabled_at = now()');
  ahead = 0;
  tenant = await lanyard.tenant();
  receiver = await new Receiver(tenant.api).listen();
});

const create = async (since?: 'now'): Promise<string> => {
  const { id, secret } = await webhooks.create(tenant.organizationId, receiver.url, undefined, since);
  receiver.secrets = [secret];
  return id;
};
const row = (id: string) => lanyard.app.get(DataSource).manager.findOneByOrFail(FeedReaderEntity, { id });
const listed = async (id: string) => (await webhooks.list(tenant.organizationId)).find((each) => each.id === id);
const newLead = () => tenant.api.post('/leads', leadInput()).expect(200);
const isComplete = async (): Promise<boolean> => (await receiver.copy.differences()).length === 0;

describe('a clock that was set back', () => {
  it('delays no attempt by more than its wait', async () => {
    ahead = DAY;
    receiver.answer = rejectWith(500);
    const id = await create('now');
    await newLead();
    await waitUntil(async () => (await listed(id))?.state === 'failing');
    receiver.answer = ACKNOWLEDGED;
    ahead = 0;
    await waitUntil(async () => Number((await row(id)).nextAttemptAt) < Date.now() + 6 * SECOND);
    expect(Number((await row(id)).nextAttemptAt)).toBeGreaterThan(Date.now());
    ahead = 7 * SECOND;
    await waitUntil(isComplete);
  });
});

describe('a slow receiver', () => {
  it('that sends a body without end has said yes', async () => {
    receiver.answer = (response) => void response.writeHead(200).write('x'.repeat(1 << 20));
    const id = await create('now');
    await newLead();
    await waitUntil(async () => (await listed(id))?.lastStatus === 200);
    expect(await listed(id)).toMatchObject({ state: 'active' });
  });

  describe('that hangs', () => {
    let hanging: Receiver[];
    beforeEach(async () => {
      hanging = await Promise.all(
        Array.from({ length: 9 }, async () => {
          const other = await lanyard.tenant();
          const slow = await new Receiver(other.api).listen();
          slow.answer = () => undefined;
          await webhooks.create(other.organizationId, slow.url, undefined, 'now');
          await other.api.post('/leads', leadInput()).expect(200);
          return slow;
        }),
      );
    });
    afterEach(async () => {
      for (const slow of hanging) await slow.close();
    });
    const connections = (): number => hanging.reduce((sum, { atOnce }) => sum + atOnce, 0);

    it('leaves room for those that answer', async () => {
      await waitUntil(() => hanging.filter(({ atOnce }) => atOnce > 0).length >= 4);
      await create('now');
      await newLead();
      await waitUntil(isComplete);
      await waitUntil(() => connections() <= 2);
      await newLead();
      await waitUntil(isComplete);
    });

    it('does not delay the recovery of one that fails quickly', async () => {
      await waitUntil(() => hanging.every(({ deliveries }) => deliveries.length > 0) && connections() <= 4);
      receiver.answer = rejectWith(500);
      const id = await create('now');
      await newLead();
      await waitUntil(async () => (await listed(id))?.state === 'failing');
      receiver.answer = ACKNOWLEDGED;
      ahead = 7 * SECOND;
      const started = performance.now();
      await waitUntil(isComplete);
      expect(performance.now() - started).toBeLessThan(8_000);
    });
  });
});
