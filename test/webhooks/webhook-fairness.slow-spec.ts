import { setTimeout as pause } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { FeedReaders } from '../../src/feed/changes/feed-readers';
import { Config } from '../../src/config';
import { KeyReceivers } from '../../src/feed/webhooks/key-receivers';
import { ReceiverLookup } from '../../src/feed/webhooks/receiver-lookup';
import { type Webhook, WebhookClient } from '../../src/feed/webhooks/webhook-client';
import { FeedClock } from '../../src/feed/changes/feed-clock';
import { FeedReaderEntity } from '../../src/feed/changes/feed-reader.entity';
import { WebhooksService } from '../../src/feed/webhooks/webhooks.service';
import { leadInput } from '../support/builders';
import { asOperator } from '../support/database';
import { DnsServer } from '../support/servers/dns-server';
import { InProcess, startInProcess, Tenant } from '../support/lanyard';
import { Receiver, ACKNOWLEDGED } from '../support/servers/receiver';
import { waitUntil } from '../support/wait';

const RECEIVER_MS = 900;
const BUSY_ORGANIZATIONS = 10;
const PAGE_SIZE = 100;
const PAGES = 12;
/** Deliveries of one organization while another waits for its first. */
const MOST_TURNS = 6;
const INSERT_LEADS = `insert into leads (organization_id, position, first_name)
  select $1, (select list_take($1, 'leads', $2::int)) + n - 1, 'Ada' from generate_series(1, $2::int) n`;

let lanyard: InProcess;
let webhooks: WebhooksService;
let dataSource: DataSource;

beforeAll(async () => {
  lanyard = await startInProcess();
  webhooks = lanyard.app.get(WebhooksService);
  dataSource = lanyard.app.get(DataSource);
});
beforeEach(() => dataSource.query('delete from feed_readers'));

const newLead = (tenant: Tenant) => tenant.api.post('/leads', leadInput()).expect(200);

/** Resolves when the change of an organization is acknowledged that had nothing to send before. */
async function delivery(tenant: Tenant): Promise<void> {
  const receiver = await new Receiver(tenant.api).listen();
  await webhooks.create(tenant.organizationId, receiver.url, undefined, 'now');
  await newLead(tenant);
  await waitUntil(() => receiver.taken.length > 0);
}

describe('other organizations', () => {
  it('wait for their turn only, while some keep all slots busy with receivers that take 0.9 s', async () => {
    // The connections of a server end a statement that takes long.
    const operator = await asOperator(lanyard.config.databaseUrl as string);
    const tenants: Tenant[] = [];
    for (let n = 0; n < BUSY_ORGANIZATIONS; n++) {
      const tenant = await lanyard.tenant();
      await operator.query(INSERT_LEADS, [tenant.organizationId, PAGES * PAGE_SIZE]);
      tenants.push(tenant);
    }
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const receivers: Receiver[] = [];
    for (const tenant of tenants) {
      const receiver = await new Receiver(tenant.api).listen();
      receiver.answer = (response, delivery) =>
        void begun.then(() => pause(RECEIVER_MS)).then(() => ACKNOWLEDGED(response, delivery));
      await webhooks.create(tenant.organizationId, receiver.url, ['leads']);
      receivers.push(receiver);
    }
    await waitUntil(() => receivers.reduce((sum, { atOnce }) => sum + atOnce, 0) >= 8);
    begin();
    const before = receivers.map(({ taken }) => taken.length);
    await delivery(await lanyard.tenant());
    // None of them had more than a few turns meanwhile, and they were still busy then.
    const turns = receivers.map(({ taken }, n) => taken.length - (before[n] ?? 0));
    expect(Math.max(...turns)).toBeLessThan(MOST_TURNS);
    expect(receivers.some(({ taken }) => taken.length < PAGES)).toBe(true);
    for (const receiver of receivers) await receiver.close();
  });

  it('notice nothing of webhooks whose host names hang', async () => {
    const dns = await new DnsServer().listen();
    dns.hangs = () => true;
    const tenant = await lanyard.tenant();
    // Opens the connections of the pool, which may take long on a busy machine.
    await waitUntil(async () => {
      const responses = await Promise.all(Array.from({ length: 10 }, () => tenant.api.get('/leads')));
      return responses.every(({ status }) => status === 200);
    });
    const hanging = new ReceiverLookup({ allowPrivate: true, servers: [dns.address], resolvConf: '/nonexistent' });
    const real = lanyard.app.get(ReceiverLookup);
    let ended = 0;
    jest.spyOn(real, 'resolve').mockImplementation((host) => hanging.resolve(host).finally(() => ended++));
    for (let n = 0; n < 8; n++) {
      const other = await lanyard.tenant();
      await webhooks.create(other.organizationId, `http://hanging-${n}.example.com/`, undefined, 'now');
      await newLead(other);
    }
    await waitUntil(() => new Set(dns.queries).size >= 4);
    for (let burst = 0; burst < 8; burst++) {
      await Promise.all(Array.from({ length: 10 }, () => tenant.api.get('/leads').expect(200)));
    }
    const before = ended;
    await delivery(tenant);
    // It waited for at most one lookup of each of the others.
    expect(ended - before).toBeLessThanOrEqual(8 + 1);
    jest.restoreAllMocks();
  });
});

describe('a receiver whose name resolves to an address', () => {
  it('is connected to at exactly that address', async () => {
    const tenant = await lanyard.tenant();
    const receiver = await new Receiver(tenant.api).listen();
    const dns = await new DnsServer().listen();
    dns.addresses.set('crm.example.com', '127.0.0.1').set('rebound.example.com', '169.254.169.254');
    const client = new WebhookClient(
      new ReceiverLookup({ allowPrivate: true, servers: [dns.address], resolvConf: '/nonexistent' }),
      new KeyReceivers(new Config()),
    );
    const send = async (host: string) => {
      const { id } = await webhooks.create(tenant.organizationId, `http://${host}:${receiver.port}/`);
      const webhook = await dataSource.getRepository(FeedReaderEntity).findOneByOrFail({ id });
      await webhooks.delete(id);
      return client.send(webhook as Webhook, { type: 'ping', id: 'msg_1', fields: '' }, new Date());
    };
    expect(await send('crm.example.com')).toMatchObject({ status: 204 });
    expect(receiver.deliveries[0]?.headers.host).toBe(`crm.example.com:${receiver.port}`);
    expect(await send('rebound.example.com')).toEqual({ error: 'address not allowed' });
    expect(await send('169.254.169.254')).toEqual({ error: 'address not allowed' });
  });
});

describe('a poll', () => {
  it('finds a change of a transaction that was open during earlier polls, and nothing of idle webhooks', async () => {
    lanyard.app.get(FeedClock).pollIntervalMs = 25;
    const [tenant, other] = [await lanyard.tenant(), await lanyard.tenant()];
    const receiver = await new Receiver(tenant.api).listen();
    await webhooks.create(tenant.organizationId, receiver.url, undefined, 'now');
    await newLead(tenant);
    await waitUntil(() => receiver.taken.length === 1);
    const polls = jest.spyOn(FeedReaders.prototype, 'due');
    const due = async (poll: number) => (await (polls.mock.results[poll]?.value as Promise<object[]>)).length;
    await dataSource.transaction(async (manager) => {
      await manager.query(
        `insert into leads (organization_id, position, first_name) values ($1, (select list_take($1, 'leads', 1)), 'Late')`,
        [tenant.organizationId],
      );
      await newLead(other);
      await waitUntil(() => polls.mock.calls.length >= 3);
      expect(await due(2)).toBe(0);
    });
    await waitUntil(() => receiver.taken.length === 2);
    // A change is not held up by an older transaction that is open.
    await dataSource.transaction(async (manager) => {
      await manager.query('select pg_current_xact_id()');
      await newLead(tenant);
      await waitUntil(() => receiver.taken.length === 3);
    });
    polls.mockRestore();
  });
});
