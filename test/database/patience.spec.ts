import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';
import { DataSource } from 'typeorm';
import { Writes } from '../../src/database/writes';
import { eventInput, leadInput } from '../support/builders';
import { onServer, testDatabase, urlOf } from '../support/database';
import { lockWaits, query, until } from '../support/embedded-fixtures';
import { InProcess, startInProcess, Tenant } from '../support/lanyard';

describe('a database that takes its time', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  beforeAll(async () => {
    lanyard = await startInProcess();
    tenant = await lanyard.tenant();
    // 1.5 s are what a statement has, and 2 s are for how long its answer is waited for.
    await lanyard.app.get(DataSource).query(`
      create function dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(2.1); return old; end $$;
      create trigger dawdling before delete on events for each row execute function dawdle();
      create trigger dawdling before delete or update on leads for each row execute function dawdle()`);
  });
  afterAll(() => lanyard.stop());

  it('costs a client 503 after two seconds, and nothing is changed', async () => {
    const { body } = await tenant.api.post('/leads', leadInput()).expect(200);
    await tenant.api.patch(`/leads/${body.results.id}`, { firstName: 'Late' }).expect(503).expect('Retry-After', '1');
    await tenant.api.get(`/leads/${body.results.id}`).expect(200, body);
  });

  it('may delete an event, which can have a million leads', async () => {
    const { body } = await tenant.api.post('/events', eventInput()).expect(200);
    await tenant.api.delete(`/events/${body.results.id}`).expect(200);
    await tenant.api.get(`/events/${body.results.id}`).expect(404);
  });

  it.each([{}, { 'idempotency-key': 'gone-1' }])(
    'may delete a lead, which can have as many activity events: %j',
    async (headers) => {
      const { body } = await tenant.api.post('/leads', leadInput()).expect(200);
      await tenant.api.delete(`/leads/${body.results.id}`).set(headers).expect(200);
      await tenant.api.get(`/leads/${body.results.id}`).expect(404);
    },
  );
});

describe('a delete of an event that takes long', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  beforeEach(async () => {
    lanyard = await startInProcess({ poolSize: 5 });
    tenant = await lanyard.tenant();
  });
  afterEach(() => lanyard.stop());

  const createEvent = async (): Promise<number> =>
    (await tenant.api.post('/events', eventInput()).expect(200)).body.results.id;
  const url = (): string => lanyard.config.databaseUrl as string;
  /** Locks all events, as an import does. @returns lets them go */
  const holdEvents = async (): Promise<() => Promise<void>> => {
    const holder = await new DataSource({ type: 'postgres', url: url() }).initialize();
    const held = holder.createQueryRunner();
    await held.startTransaction();
    await held.query('select from events for update');
    return async () => {
      await held.rollbackTransaction();
      await holder.destroy();
    };
  };

  it('leaves connections to other requests of its organization, however many there are', async () => {
    const ids = [await createEvent(), await createEvent(), await createEvent(), await createEvent()];
    // The lock is held for as long as the test needs it, and not for the 1.3 s that a request has for one.
    await query(
      url(),
      `create function wait_on() returns trigger language plpgsql as
        $$ begin perform set_config('lock_timeout', '0', true); return null; end $$;
      create trigger patient before delete on events for each statement execute function wait_on()`,
    );
    const release = await holdEvents();
    const deletes = ids.map((id) => tenant.api.delete(`/events/${id}`).then(({ status }) => status));
    const writes = lanyard.app.get(Writes);
    await until(async () => (await lockWaits(url())) + writes.waitingRequests === deletes.length);
    await tenant.api.get('/events').expect(200);
    expect(await lockWaits(url())).toBe(1);
    expect(writes.waitingRequests).toBe(3);
    await release();
    expect(await Promise.all(deletes)).toEqual([200, 200, 200, 200]);
  });

  it('is waited for by the next one, though PostgreSQL answers nobody meanwhile', async () => {
    await query(
      url(),
      `create function dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(1.9); return old; end $$;
      create trigger dawdling before delete on events for each row execute function dawdle()`,
    );
    const ids = [await createEvent(), await createEvent()];
    const deleted = await Promise.all(ids.map((id) => tenant.api.delete(`/events/${id}`)));
    expect(deleted.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('does not wait for as long for a lock, which an import may hold', async () => {
    const id = await createEvent();
    const release = await holdEvents();
    await tenant.api.delete(`/events/${id}`).expect(503).expect('Retry-After', '1');
    await tenant.api.put(`/events/${id}`, eventInput()).expect(503);
    await release();
    await tenant.api.delete(`/events/${id}`).expect(200);
  });

  it.each([
    ['', [503, 503]],
    [', also when PostgreSQL takes no more connections', [500, 503]],
  ])('does not keep a server that is to end, which undoes it%s', async (closed, statuses) => {
    const [id, next] = [await createEvent(), await createEvent()];
    const name = new URL(url()).pathname.slice(1);
    await query(
      url(),
      `create function dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return old; end $$;
        create trigger dawdling before delete on events for each row execute function dawdle()`,
    );
    const dawdling = () =>
      query(urlOf('postgres'), `select from pg_stat_activity where datname = '${name}' and wait_event = 'PgSleep'`);
    const deletes = [id, next].map((event) => tenant.api.delete(`/events/${event}`).then(({ status }) => status));
    await until(async () => (await dawdling()).length > 0);
    if (closed) await onServer(`alter database ${name} allow_connections false`);
    await lanyard.app.close();
    expect((await Promise.all(deletes)).sort()).toEqual(statuses);
    if (closed) await onServer(`alter database ${name} allow_connections true`);
    expect(await query(url(), 'select id::integer from events order by id')).toEqual([{ id }, { id: next }]);
  });
});

describe('a COMMIT that does not return, as when the synchronous standby is away,', () => {
  it('costs its client two seconds, and its connection serves nobody else', async () => {
    const lanyard = await startInProcess({ poolSize: 1 });
    const tenant = await lanyard.tenant();
    // Deferred to the COMMIT, where statement_timeout does not reach.
    await lanyard.app.get(DataSource).query(`
      create function dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(30); return null; end $$;
      create constraint trigger dawdling after insert on leads deferrable initially deferred
        for each row execute function dawdle()`);
    await tenant.api.post('/leads', leadInput()).set('idempotency-key', 'scan-1').expect(500);
    await tenant.api.get('/leads').expect(200);
    await lanyard.stop();
  });
});

it('is had by a start whose first connection is not answered in time', async () => {
  const database = await testDatabase();
  const { hostname, port } = new URL(database.url);
  let connections = 0;
  const doorway = createServer((socket) => {
    if (++connections === 1) socket.resume();
    else pipeline(socket, connect(Number(port || 5432), hostname), socket, () => undefined);
  }).listen(0, '127.0.0.1');
  await once(doorway, 'listening');
  const databaseUrl = Object.assign(new URL(database.url), {
    host: `127.0.0.1:${(doorway.address() as AddressInfo).port}`,
  }).href;
  const lanyard = await startInProcess({ databaseUrl });
  await (await lanyard.tenant()).api.get('/leads').expect(200);
  await lanyard.stop();
  doorway.close();
  await database.drop();
});
