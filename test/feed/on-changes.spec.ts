import { randomUUID } from 'node:crypto';
import { Injectable, Module, Scope } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type Change, type ChangesPosition, OnChanges } from '../../src/feed/changes/on-changes';
import { FeedClock } from '../../src/feed/changes/feed-clock';
import { WebhooksService } from '../../src/feed/webhooks/webhooks.service';
import { query, type TestDatabase } from '../../src/testing/test-database';
import { createExhibitor, leadInput } from '../support/builders';
import { asOperator, createTestDatabase } from '../support/database';
import { InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { Operator } from '../support/operator';
import { type Change as FeedChange, Replica } from '../support/replica';
import { waitUntil } from '../support/wait';

type Page = ChangesPosition & { changes: Change[] };

/** What the methods of all servers of a test have got. */
class Received {
  readonly pages = new Map<number, Page[]>();
  readonly sinceNow: Change[] = [];
  /** Called before a page is taken. */
  before: (organizationId: number, signal: AbortSignal) => Promise<void> | void = () => undefined;
  running = 0;
  mostAtOnce = 0;

  of(organizationId: number): Page[] {
    return this.pages.get(organizationId) ?? [];
  }
}
let received = new Received();
beforeEach(() => void (received = new Received()));

@Injectable()
class Subscriber {
  @OnChanges({ name: 'copy', start: 'snapshot' })
  async copy(organizationId: number, changes: Change[], position: ChangesPosition): Promise<void> {
    received.running++;
    received.mostAtOnce = Math.max(received.mostAtOnce, received.running);
    try {
      await received.before(organizationId, position.signal);
      received.pages.set(organizationId, [...received.of(organizationId), { ...position, changes }]);
    } finally {
      received.running--;
    }
  }

  @OnChanges({ name: 'new leads', resources: ['leads'], start: 'now' })
  notice(_organizationId: number, changes: Change[]): Promise<void> {
    received.sinceNow.push(...changes);
    return Promise.resolve();
  }
}

@Module({ providers: [Subscriber] })
class SubscriberModule {}

let ahead = 0;
async function start(database: TestDatabase): Promise<InProcess> {
  const extension = { modules: [SubscriberModule] };
  const lanyard = await startInProcess({ databaseUrl: database.url }, undefined, extension);
  Object.assign(lanyard.app.get(FeedClock), { pollIntervalMs: 25, now: () => new Date(Date.now() + ahead) });
  return lanyard;
}

const newLead = async ({ api }: Tenant): Promise<string> =>
  (await api.post('/leads', leadInput()).expect(200)).body.results.id as string;
const idsOf = (changes: Change[]) => changes.map(({ id }) => id);

describe('a method with @OnChanges', () => {
  let database: TestDatabase;
  let lanyard: InProcess;
  let tenant: Tenant;
  beforeAll(async () => {
    database = await createTestDatabase();
    const before = await startInProcess({ databaseUrl: database.url });
    await newLead(await before.tenant());
    await before.stop();
    lanyard = await start(database);
  });
  beforeEach(async () => {
    ahead = 0;
    tenant = await lanyard.tenant();
  });

  it('gets a snapshot, an empty page at its end, and each change after it, in order', async () => {
    await tenant.import(createExhibitor().dataset);
    await waitUntil(() => received.of(tenant.organizationId).some(({ phase }) => phase === 'changes'));
    const ids = [await newLead(tenant), await newLead(tenant), await newLead(tenant)];
    const changes = () =>
      received.of(tenant.organizationId).flatMap((page) => (page.phase === 'changes' ? page.changes : []));
    await waitUntil(() => idsOf(changes()).includes(ids.at(-1)));
    const last = changes().filter(({ operation }) => operation === 'created');
    expect(idsOf(last).filter((id) => ids.includes(id as string))).toEqual(ids);
    const end = received.of(tenant.organizationId).find(({ phase }) => phase === 'changes');
    expect(end?.changes).toEqual([]);
  });

  it('that starts now gets nothing that was there before it, and all of a newer organization', async () => {
    const id = await newLead(tenant);
    await waitUntil(() => idsOf(received.sinceNow).includes(id));
    expect(received.sinceNow.every(({ resource }) => resource === 'leads')).toBe(true);
    const [{ count }] = await lanyard.app
      .get(DataSource)
      .query<[{ count: number }]>('select count(*)::integer as count from leads where organization_id = 1');
    expect(count).toBe(1);
    const rows = await lanyard.app
      .get(DataSource)
      .query<{ waiting_since: null }[]>(`select waiting_since from feed_readers where organization_id = 1`);
    expect(rows).toHaveLength(2);
  });

  it('that throws is called again later with the same page, shown by status, and at once by a new server', async () => {
    let isBroken = true;
    received.before = (organizationId) => {
      if (isBroken && organizationId === tenant.organizationId) throw new RangeError('no CRM');
    };
    const id = await newLead(tenant);
    const row = async () =>
      (await lanyard.app.get(WebhooksService).list(tenant.organizationId)).find(
        ({ subscription }) => subscription === 'copy',
      );
    await waitUntil(async () => (await row())?.state === 'failing');
    expect(await row()).toMatchObject({ lastError: 'RangeError', waiting: { changes: 1 } });
    const operator = new Operator({ DATABASE_URL: database.url });
    const { subscriptions } = await operator.json<{ subscriptions: object[] }>(['status']);
    expect(subscriptions).toMatchObject([
      { name: 'copy', failing: 1, lastError: 'RangeError' },
      { name: 'new leads', failing: 0, lastError: null },
    ]);
    expect((await operator.run(['status'])).stdout).toMatch(/^copy +.* RangeError/m);
    expect(received.of(tenant.organizationId)).toEqual([]);
    isBroken = false;
    await lanyard.stop();
    lanyard = await start(database);
    await waitUntil(() => idsOf(received.of(tenant.organizationId).flatMap(({ changes }) => changes)).includes(id));
    await waitUntil(async () => (await row())?.state === 'active');
  });

  it('learns by its signal that its server has lost the database, so that another one may call it', async () => {
    await waitUntil(() => received.of(tenant.organizationId).some(({ phase }) => phase === 'changes'));
    let isCalled = false;
    received.before = (organizationId, signal) => {
      if (organizationId !== tenant.organizationId) return undefined;
      isCalled = true;
      return new Promise((_, reject) => {
        const end = (): void => {
          received.before = () => undefined;
          reject(signal.reason as Error);
        };
        signal.addEventListener('abort', end, { once: true });
      });
    };
    const id = await newLead(tenant);
    await waitUntil(() => isCalled);
    await query(
      database.url,
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and classid = 7261915
        and database = (select oid from pg_database where datname = current_database())`,
    );
    await waitUntil(() => idsOf(received.of(tenant.organizationId).flatMap(({ changes }) => changes)).includes(id));
    const rows = await lanyard.app.get(WebhooksService).list(tenant.organizationId);
    expect(rows.map(({ state, lastError }) => ({ state, lastError }))).toEqual([
      { state: 'active', lastError: null },
      { state: 'active', lastError: null },
    ]);
  });

  it('is not called in a copy of the database until the operator resumes it, and then from a snapshot', async () => {
    await newLead(tenant);
    await waitUntil(() => received.of(tenant.organizationId).length > 0);
    const db = await asOperator(database.url);
    await db.query("update changes_key set database_identity = 'another'");
    const row = async () =>
      (await lanyard.app.get(WebhooksService).list(tenant.organizationId)).find(
        ({ subscription }) => subscription === 'copy',
      );
    await newLead(tenant);
    await waitUntil(async () => (await row())?.state === 'paused');
    received.pages.clear();
    await new Operator({ DATABASE_URL: database.url }).run(['webhooks', 'resume']);
    await waitUntil(() => received.of(tenant.organizationId).some(({ phase }) => phase === 'changes'));
    expect(received.of(tenant.organizationId)[0]).toMatchObject({ phase: 'snapshot' });
  });
});

describe('a replica by a method that throws at random, of a server that is stopped and started', () => {
  it('equals the lists in the end, and no two calls of one organization overlap', async () => {
    const database = await createTestDatabase();
    let lanyard = await start(database);
    const tenant = await lanyard.tenant();
    let n = 0;
    received.before = async () => {
      if (++n % 3 === 0) throw new Error('at random');
      await new Promise((resolve) => setImmediate(resolve));
    };
    const { dataset } = createExhibitor();
    await tenant.import(dataset);
    for (let round = 0; round < 4; round++) {
      for (let each = 0; each < 5; each++) {
        const { body } = await lanyard.client(tenant.key).post('/leads', leadInput()).expect(200);
        const changed = leadInput({ firstName: `Ada ${round}`, companyName: randomUUID() });
        if (each % 2 === 0) {
          await lanyard.client(tenant.key).patch(`/leads/${body.results.id}`, changed).expect(200);
        } else await lanyard.client(tenant.key).delete(`/leads/${body.results.id}`).expect(200);
      }
      ahead += 600_000;
      await lanyard.stop();
      lanyard = await start(database);
    }
    received.before = () => undefined;
    const api = lanyard.client(tenant.key);
    const copy = async (): Promise<string[]> => {
      ahead += 600_000;
      const replica = new Replica(api);
      for (const { changes } of received.of(tenant.organizationId))
        for (const change of changes) replica.apply(change as unknown as FeedChange);
      return replica.differences();
    };
    await waitUntil(async () => (await copy()).length === 0);
    expect(received.mostAtOnce).toBeLessThanOrEqual(1);
    expect(received.of(tenant.organizationId).length).toBeGreaterThan(2);
  });
});

describe('a start is refused for', () => {
  const refusal = async (...providers: (new () => object)[]): Promise<string> => {
    @Module({ providers })
    class RefusedModule {}
    return startInProcess({}, undefined, { modules: [RefusedModule] }).then(
      () => 'nothing',
      (error: Error) => error.message,
    );
  };
  const work = (): Promise<void> => Promise.resolve();

  it('two methods of one name', async () => {
    class Two {
      @OnChanges({ name: 'same', start: 'now' })
      first(): Promise<void> {
        return work();
      }
      @OnChanges({ name: 'same', start: 'now' })
      second(): Promise<void> {
        return work();
      }
    }
    expect(await refusal(Two)).toBe(
      "@OnChanges({ name: 'same' }) on the method second: another method has this name. Names must be unique.",
    );
  });

  it('a resource that the feed does not have', async () => {
    class Unknown {
      @OnChanges({ name: 'unknown', resources: ['lead'], start: 'now' })
      notice(): Promise<void> {
        return work();
      }
    }
    expect(await refusal(Unknown)).toMatch(
      /^@OnChanges\(\{ name: 'unknown' \}\) on the method notice: the resources must be some of tagGroups, /,
    );
  });

  it.each([
    ['a request-scoped provider', Scope.REQUEST],
    ['a transient provider', Scope.TRANSIENT],
  ])('%s', async (_, scope) => {
    @Injectable({ scope })
    class Scoped {
      @OnChanges({ name: 'scoped', start: 'now' })
      notice(): Promise<void> {
        return work();
      }
    }
    expect(await refusal(Scoped)).toBe(
      "@OnChanges({ name: 'scoped' }) on the method notice: its provider must not be request-scoped or transient.",
    );
  });
});
