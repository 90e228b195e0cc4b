import { once } from 'node:events';
import { DataSource, type QueryRunner } from 'typeorm';
import { generateKey } from '../../src/access/key-format';
import { poolOf } from '../../src/data/database/data-source';
import { Writes } from '../../src/data/database/writes';
import { query } from '../../src/testing/test-database';
import { eventInput, leadInput } from '../support/builders';
import { asOperator, createTestDatabase } from '../support/database';
import { InProcess, startInProcess, Tenant, withTenant } from '../support/lanyard';
import { Proxy } from '../support/servers/proxy';
import { lockWaits, waitUntil } from '../support/wait';

/** A trigger on deletes of events, and more, that takes so long. */
const slowDeletes = (seconds: number, more = ''): string => `
  create function dawdle() returns trigger language plpgsql as
    $$ begin perform pg_sleep(${seconds}); return old; end $$;
  create trigger dawdling before delete on events for each row execute function dawdle();${more}`;

describe('a slow database', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  beforeAll(async () => {
    [lanyard, tenant] = await withTenant(startInProcess());
    // A statement has 1.5 s.
    const leads = 'create trigger dawdling before delete or update on leads for each row execute function dawdle()';
    await lanyard.app.get(DataSource).query(slowDeletes(1.6, leads));
  });

  it('costs a client 503 after 1.5 s, and nothing is changed', async () => {
    const { body } = await tenant.api.post('/leads', leadInput()).expect(200);
    await tenant.api.patch(`/leads/${body.results.id}`, { firstName: 'Late' }).expect(503).expect('Retry-After', '1');
    await tenant.api.get(`/leads/${body.results.id}`).expect(200, body);
  });

  it('may take longer to delete an event, which can have a million leads', async () => {
    const { body } = await tenant.api.post('/events', eventInput()).expect(200);
    await tenant.api.delete(`/events/${body.results.id}`).expect(200);
    await tenant.api.get(`/events/${body.results.id}`).expect(404);
  });
});

describe('a connection that PostgreSQL ends while it is used', () => {
  it('does not end the process, whether it is the first one or a later one', async () => {
    const { app } = await startInProcess();
    const pool = poolOf(app.get(DataSource));
    // All but the one on which webhooks are sent.
    const clients = await Promise.all(Array.from({ length: pool.options.max - 1 }, () => pool.connect()));
    const listening = clients.map((client) => client.listenerCount('error'));
    for (const client of clients) client.release();
    expect(listening).toEqual(listening.map(() => 1));
  });
});

describe('a long delete', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  beforeEach(async () => void ([lanyard, tenant] = await withTenant(startInProcess({ poolSize: 5 }))));

  const createEvent = async (): Promise<number> =>
    (await tenant.api.post('/events', eventInput()).expect(200)).body.results.id;
  const url = (): string => lanyard.config.databaseUrl as string;
  /** Locks all events, as an import does. @returns releases them */
  const lockEvents = async (): Promise<() => Promise<void>> => {
    const held = (await asOperator(url())).createQueryRunner();
    await held.startTransaction();
    await held.query('select from events for update');
    return async () => {
      await held.rollbackTransaction();
      await held.release();
    };
  };

  it('leaves connections to other requests of its organization, however many deletes there are', async () => {
    const ids = [await createEvent(), await createEvent(), await createEvent(), await createEvent()];
    // The lock is held for as long as the test needs it, and not for the 1.3 s that a request has for one.
    await query(
      url(),
      `create function wait_on() returns trigger language plpgsql as
        $$ begin perform set_config('lock_timeout', '0', true); return null; end $$;
      create trigger patient before delete on events for each statement execute function wait_on()`,
    );
    const release = await lockEvents();
    const deletes = ids.map((id) => tenant.api.delete(`/events/${id}`).then(({ status }) => status));
    const writes = lanyard.app.get(Writes);
    await waitUntil(async () => (await lockWaits(url())) === 1 && writes.waitingRequests === 3);
    await tenant.api.get('/events').expect(200);
    await release();
    expect(await Promise.all(deletes)).toEqual([200, 200, 200, 200]);
  });
});

describe('an organization whose requests all wait for a lock', () => {
  let lanyard: InProcess;
  let other: InProcess;
  let stuck: Tenant;
  let path: string;
  let holder: QueryRunner;
  beforeAll(async () => {
    lanyard = await startInProcess({ poolSize: 5 });
    other = await startInProcess({ databaseUrl: lanyard.config.databaseUrl });
  });
  beforeEach(async () => {
    stuck = await lanyard.tenant();
    holder = other.app.get(DataSource).createQueryRunner();
    await holder.startTransaction();
    path = await lockedLead(stuck);
  });
  afterEach(() => holder.release());

  const lockedLead = async ({ api }: Tenant): Promise<string> => {
    const { body } = await api.post('/leads', leadInput()).expect(200);
    await holder.query('select from leads where id = $1 for update', [body.results.id]);
    return `/leads/${body.results.id}`;
  };
  const patches = (tenant: Tenant, lead: string, count: number) =>
    Array.from({ length: count }, () => tenant.api.patch(lead, { jobTitle: 'x' }).then(({ status }) => status));
  const areWaiting = (count: number) =>
    waitUntil(async () => (await lockWaits(lanyard.config.databaseUrl as string)) === count);
  const isReady = () => fetch(lanyard.baseUrl.replace('/api/v0', '/health/ready')).then(({ status }) => status);

  it('keeps no other one waiting', async () => {
    const tenant = await lanyard.tenant();
    let answered = 0;
    const waiting = patches(stuck, path, 50).map((patch) => patch.finally(() => answered++));
    await tenant.api.post('/leads', leadInput()).expect(200);
    expect([await isReady(), answered]).toEqual([200, 0]);
    await holder.rollbackTransaction();
    await Promise.all(waiting);
  });

  it('gets 503 for them after 1.3 s, and its other requests are answered then', async () => {
    const waiting = patches(stuck, path, 4);
    await areWaiting(4);
    await stuck.api.get(path).expect(200);
    expect(await Promise.all(waiting)).toEqual([503, 503, 503, 503]);
    await holder.rollbackTransaction();
  });
});

describe('a database that does not answer', () => {
  let lanyard: InProcess;
  let proxy: Proxy;
  let tenant: Tenant;
  beforeAll(async () => {
    const { url } = await createTestDatabase();
    const { hostname: host, port } = new URL(url);
    proxy = await Proxy.to(Number(port || 5432), { host });
    const databaseUrl = Object.assign(new URL(url), { host: `127.0.0.1:${proxy.port}` }).href;
    [lanyard, tenant] = await withTenant(startInProcess({ databaseUrl, poolSize: 1, webhooks: 'off' }));
    await tenant.api.get('/leads').expect(200);
  });
  afterAll(async () => {
    await lanyard.stop();
    proxy.close();
  });

  it('costs a read 503 after 2 s, and what waits for the connection is not made to wait again', async () => {
    proxy.silentConnections = Infinity;
    proxy.silenceOpenConnections();
    const attempts = proxy.accepted;
    const acquired = once(poolOf(lanyard.app.get(DataSource)), 'acquire');
    const read = tenant.api.get('/leads').then((response) => response);
    await acquired;
    const waiting = [tenant.api.get('/events'), ...[1, 2].map(() => tenant.api.post('/leads', leadInput()))];
    const responses = await Promise.all([read, ...waiting]);
    expect(responses.map(({ status, headers }) => [status, headers['retry-after']])).toEqual(Array(4).fill([503, '1']));
    // Nobody tried another connection, on which it would have waited anew.
    expect(proxy.accepted - attempts).toBe(0);
  });

  it('costs a write in a transaction 503, too, when its commit was not sent', async () => {
    proxy.silentConnections = 0;
    await waitUntil(() => tenant.api.get('/leads').then(({ status }) => status === 200));
    proxy.silenceOpenConnections();
    await tenant.api
      .post('/leads/batch', { matchBy: 'none', leads: [leadInput()] })
      .expect(503)
      .expect('Retry-After', '1');
    const { body } = await tenant.api.get('/leads').expect(200);
    expect(body.results.total).toBe(0);
    proxy.silentConnections = Infinity;
    proxy.silenceOpenConnections();
  });

  it('costs the unknown key of a request 503, too', async () => {
    await lanyard.client(generateKey()).get('/leads').expect(503).expect('Retry-After', '1');
  });

  it('is asked on new connections when it answers again', async () => {
    proxy.silentConnections = 0;
    await tenant.api.post('/leads', leadInput()).expect(200);
    await lanyard.client(generateKey()).get('/leads').expect(403);
  });

  it('makes the server not ready, until a new connection is answered', async () => {
    const isReady = () => fetch(lanyard.baseUrl.replace('/api/v0', '/health/ready')).then(({ status }) => status);
    proxy.silenceOpenConnections();
    const released = once(poolOf(lanyard.app.get(DataSource)), 'release');
    expect(await isReady()).toBe(503);
    await released;
    expect(await isReady()).toBe(200);
  });
});
