import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { CLAIM_BATCH_SIZE } from '../../src/feed/changes/changes.sql';
import { createLog } from '../../src/observability/log';
import { Metrics } from '../../src/observability/metrics';
import { FeedSender } from '../../src/feed/changes/feed-sender';
import { WebhooksService } from '../../src/feed/webhooks/webhooks.service';
import { leadInput } from '../support/builders';
import type { ApiClient } from '../support/client';
import { asOperator, createDatabase, createTestDatabase } from '../support/database';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { Operator } from '../support/operator';
import { Receiver } from '../support/servers/receiver';
import { type ChangesPage, Replica, foreignCursor } from '../support/replica';
import { waitUntil } from '../support/wait';

// Another cluster assigned higher transaction numbers, or lower ones.
const FARTHER = 1_000_000_000;

const read = async (api: ApiClient, query: Record<string, string | number>): Promise<ChangesPage> =>
  (await api.get('/changes', query).expect(200)).body.results as ChangesPage;
const isGone = (api: ApiClient, cursor: string) =>
  api.get('/changes', { cursor }).expect(410, { status: 410, error: 'Gone' });
const addLead = async (api: ApiClient): Promise<string> =>
  (await api.post('/leads', leadInput()).expect(200)).body.results.id as string;
const idsOf = ({ changes }: ChangesPage) => changes.map(({ id }) => id);
const webhooksOf = ({ app }: InProcess) => app.get(WebhooksService);

/** A database with an organization, a webhook and changes, whose server has stopped. */
interface Source {
  name: string;
  key: string;
  organizationId: number;
  cursor: string;
  receiver: Receiver;
}

async function makeSource(): Promise<Source> {
  const { url } = await createTestDatabase();
  const server = await startInProcess({ databaseUrl: url });
  const { api, key, organizationId } = await server.tenant();
  const receiver = await new Receiver(api).listen();
  await webhooksOf(server).create(organizationId, receiver.url);
  for (let n = 0; n < 5; n++) await addLead(api);
  await waitUntil(() => receiver.taken.flatMap(({ message }) => message.changes).length >= 5);
  const { cursor } = await read(api, { since: 'now' });
  await server.stop();
  return { name: new URL(url).pathname.slice(1), key, organizationId, cursor, receiver };
}

describe('a database that is a copy of another one', () => {
  let source: Source;
  beforeAll(async () => {
    source = await makeSource();
  });

  it.each([
    ['of the same cluster', 0],
    ['of a cluster with higher transaction numbers', FARTHER],
  ])(
    '%s begins a log of its own, and emits every later change',
    async (_, difference) => {
      const { url } = await createDatabase(source.name);
      const db = await asOperator(url);
      await db.query('update changes set xid = xid + $1', [difference]);
      const delivered = source.receiver.deliveries.length;
      const server = await startInProcess({ databaseUrl: url });
      const api = server.client(source.key);
      await isGone(api, source.cursor);
      const { cursor } = await read(api, { since: 'now' });
      const replica = new Replica(api);
      await replica.follow();
      const leads: string[] = [];
      for (let n = 0; n < 20; n++) leads.push(await addLead(api));
      expect(idsOf(await read(api, { cursor }))).toEqual(leads);
      await replica.follow();
      expect(await replica.differences()).toEqual([]);

      const webhooks = webhooksOf(server);
      const [webhook] = await webhooks.list();
      expect(webhook?.state).toBe('paused');
      await server.app.get(FeedSender).poll();
      expect(source.receiver.deliveries).toHaveLength(delivered);
      expect(await webhooks.resume(webhook?.id ?? '')).toMatchObject({ state: 'active' });
      await waitUntil(() => source.receiver.deliveries.length > delivered);
      expect(source.receiver.deliveries[delivered]?.message).toMatchObject({ phase: 'snapshot' });
      expect((await webhooks.list())[0]?.state).toBe('active');
      await server.stop();
    },
    60_000,
  );

  it('lists its webhooks as paused, and keeps a disabled one from sending when it is enabled, until it is resumed', async () => {
    const { url } = await createDatabase(source.name);
    const db = await asOperator(url);
    expect(await new Operator({ DATABASE_URL: url }).json(['webhooks', 'list'])).toMatchObject([{ state: 'paused' }]);
    await db.query('update feed_readers set disabled_at = now()');
    const server = await startInProcess({ databaseUrl: url });
    const webhooks = webhooksOf(server);
    const [webhook] = await webhooks.list();
    const id = webhook?.id ?? '';
    expect(webhook?.state).toBe('disabled');
    expect(await webhooks.enable(id)).toMatchObject({ state: 'paused' });
    expect(await webhooks.disable(id)).toMatchObject({ state: 'disabled' });
    expect(await webhooks.resume(id)).toMatchObject({ state: 'disabled' });
    expect(await webhooks.resumeAll()).toEqual([]);
    await server.stop();
  }, 60_000);
});

describe('a restore under a running server', () => {
  const logged: string[] = [];
  let lanyard: InProcess;
  let db: DataSource;
  let tenant: Tenant;
  beforeAll(async () => {
    lanyard = await startInProcess({}, createLog('warn', { write: (line: string) => void logged.push(line) }));
    db = await asOperator(lanyard.config.databaseUrl as string);
  });
  beforeEach(async () => {
    tenant = await lanyard.tenant();
  });

  /** What a dump of another cluster leaves: its identity, its secret, and its transaction numbers. */
  const restore = (): Promise<unknown> =>
    db.query(`
      begin;
      update changes set xid = xid + ${FARTHER};
      alter table changes_key disable trigger t70_pause_webhooks;
      update changes_key set database_identity = '1/1', secret = sha256(gen_random_uuid()::text::bytea);
      alter table changes_key enable trigger t70_pause_webhooks;
      commit`);
  const addReceiver = async (): Promise<Receiver> => {
    const receiver = await new Receiver(tenant.api).listen();
    const { secret } = await webhooksOf(lanyard).create(tenant.organizationId, receiver.url, undefined, 'now');
    receiver.secrets = [secret];
    return receiver;
  };
  const stateOfWebhook = async () => (await webhooksOf(lanyard).list(tenant.organizationId))[0]?.state;

  it('is noticed by the first reader, although changes were written before', async () => {
    await addLead(tenant.api);
    const before = await read(tenant.api, { since: 'now' });
    await restore();
    await addLead(tenant.api);
    const { cursor } = await read(tenant.api, { since: 'now' });
    const lead = await addLead(tenant.api);
    expect(idsOf(await read(tenant.api, { cursor }))).toEqual([lead]);
    await isGone(tenant.api, before.cursor);
    expect(logged.join()).toContain('The change log was written in another database');
  });

  it('is noticed by who reads on with a cursor, and by a snapshot that goes on', async () => {
    await addLead(tenant.api);
    await addLead(tenant.api);
    const { cursor } = await read(tenant.api, { since: 'now' });
    await restore();
    await isGone(tenant.api, cursor);
    const snapshot = await read(tenant.api, { limit: 1 });
    await restore();
    await isGone(tenant.api, snapshot.cursor);
  });

  it('pauses webhooks, and nothing more reaches their receivers', async () => {
    const receiver = await addReceiver();
    await addLead(tenant.api);
    await waitUntil(() => receiver.taken.length === 1);
    await restore();
    await addLead(tenant.api);
    await waitUntil(async () => (await stateOfWebhook()) === 'paused');
    expect(receiver.deliveries).toHaveLength(1);
  });

  it('pauses a webhook that is restored after the log was taken over', async () => {
    const receiver = await addReceiver();
    await db.query('update feed_readers set cursor = $1 where organization_id = $2', [
      foreignCursor(),
      tenant.organizationId,
    ]);
    await addLead(tenant.api);
    await waitUntil(async () => (await stateOfWebhook()) === 'paused');
    expect(receiver.deliveries).toEqual([]);
  });

  it('loses nothing when rows of another cluster come after the log was taken over', async () => {
    await db.query(
      `insert into changes (organization_id, resource, operation, id, xid)
        select $1, 4, 'u', gen_random_uuid(), pg_current_xact_id()::text::bigint + $2`,
      [tenant.organizationId, FARTHER],
    );
    const { cursor } = await read(tenant.api, { since: 'now' });
    const lead = await addLead(tenant.api);
    expect(idsOf(await read(tenant.api, { cursor }))).toEqual([lead]);
  });

  it('of more changes than a request can remove is answered 503 with Retry-After, and each request gets on', async () => {
    await db.query(
      `insert into changes (organization_id, resource, operation, id)
        select $1, 4, 'u', gen_random_uuid() from generate_series(1, $2)`,
      [tenant.organizationId, 2 * CLAIM_BATCH_SIZE + 1],
    );
    await restore();
    const statuses: number[] = [];
    await waitUntil(async () => {
      const { status, headers } = await tenant.api.get('/changes', { since: 'now' });
      if (status === 503) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      statuses.push(status);
      return status !== 503;
    });
    expect(statuses.at(-1)).toBe(200);
    const [{ rows }] = await db.query<[{ rows: number }]>('select count(*)::integer as rows from changes');
    expect(rows).toBe(0);
  }, 30_000);

  it('that has not brought the key of the log yet is answered 503', async () => {
    await db.query('create table key_aside as table changes_key; delete from changes_key');
    await tenant.api.get('/changes').expect(503);
    await db.query('insert into changes_key select * from key_aside; drop table key_aside');
    await tenant.api.get('/changes').expect(200);
  });
});

describe('a server with LANYARD_WEBHOOKS=off', () => {
  const successes = async ({ app }: InProcess): Promise<number> => {
    const metric = await app.get(Metrics).registry.getSingleMetric('lanyard_webhook_deliveries_total')?.get();
    return metric?.values.find(({ labels }) => labels.outcome === 'success')?.value ?? 0;
  };

  it('leaves the deliveries to others', async () => {
    const { url } = await createTestDatabase();
    const off = await startInProcess({ databaseUrl: url, webhooks: 'off' });
    const { api, organizationId } = await off.tenant();
    const receiver = await new Receiver(api).listen();
    await webhooksOf(off).create(organizationId, receiver.url, undefined, 'now');
    await addLead(api);
    await off.app.get(FeedSender).poll();
    const on = await startInProcess({ databaseUrl: url });
    await waitUntil(async () => (await successes(on)) === 1);
    expect(await successes(off)).toBe(0);
    await on.stop();
    await off.stop();
  });
});

describe('a cursor', () => {
  it('of another organization is malformed, one of another database is gone', async () => {
    const [one, other] = [await startInProcess(), await startInProcess()];
    const [first, second, elsewhere] = [await one.tenant(), await one.tenant(), await other.tenant()];
    const { cursor } = await read(first.api, { since: 'now' });
    await second.api.get('/changes', { cursor }).expect(400);
    await isGone(elsewhere.api, cursor);
    await first.api.get('/changes', { cursor: `${cursor.slice(0, -4)}AAAA` }).expect(400);
    await first.api.get('/changes', { cursor: randomUUID() }).expect(400);
    await first.api.get('/changes', { cursor }).expect(200);
  });
});

describe('a database that has lost what was sent, on the timeline that it had', () => {
  it.each([
    ['the server that has sent it', 1],
    ['another server', 2],
  ])('has its webhooks and methods begin anew, when it is seen by %s', async (_, servers) => {
    const { url } = await createTestDatabase();
    const lanyard = await startInProcess({ databaseUrl: url });
    const { api, organizationId } = await lanyard.tenant();
    const other = servers === 2 ? await startInProcess({ databaseUrl: url }) : undefined;
    const receiver = await new Receiver(api).listen();
    await webhooksOf(lanyard).create(organizationId, receiver.url);
    await addLead(api);
    const isComplete = async () => (await receiver.copy.differences()).length === 0;
    await waitUntil(isComplete);
    const db = await asOperator(url);
    const places = 'select id, cursor, caught_up_log, caught_up_to from feed_readers';
    await waitUntil(async () => (await db.query<object[]>(`${places} where not ends_snapshot`)).length === 1);
    await db.query(`create table kept as ${places}`);
    const lost = await addLead(api);
    await waitUntil(() => receiver.taken.some(({ message }) => message.changes.some(({ id }) => id === lost)));
    const { cursor } = await read(api, { since: 'now' });
    // The end of the write-ahead log is gone, and with it the places of the readers.
    await db.query(`
      begin;
      delete from leads where id = '${lost}';
      delete from changes where id = '${lost}';
      update feed_readers r set cursor = kept.cursor, caught_up_log = kept.caught_up_log,
        caught_up_to = kept.caught_up_to from kept where kept.id = r.id;
      drop table kept;
      select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and classid = 7261915
        and database = (select oid from pg_database where datname = current_database());
      commit`);
    if (other) await lanyard.app.get(FeedSender).poll();
    await addLead(api);
    await waitUntil(isComplete);
    await isGone(api, cursor);
    await other?.stop();
    await lanyard.stop();
  });
});
