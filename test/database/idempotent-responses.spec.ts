import { DataSource, type EntityManager } from 'typeorm';
import { CurrentTransaction } from '../../src/database/current-transaction';
import { Retry } from '../../src/database/errors';
import { IdempotentResponses } from '../../src/database/idempotent-responses';
import type { Writes } from '../../src/database/writes';
import { leadInput } from '../support/builders';
import { startInProcess } from '../support/lanyard';

const MINUTE_MS = 60_000;

describe('the sweep of expired responses', () => {
  let batches: (number | Error)[];
  let queries: number;
  const withQuery = (query: () => Promise<unknown>): IdempotentResponses =>
    new IdempotentResponses({ query } as unknown as DataSource, {} as Writes, new CurrentTransaction());
  const responses = (): IdempotentResponses =>
    withQuery(() => {
      queries++;
      const batch = batches.shift() ?? 0;
      return batch instanceof Error ? Promise.reject(batch) : Promise.resolve([[], batch]);
    });
  beforeEach(() => {
    [batches, queries] = [[], 0];
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('runs at the start and every minute, until the end', async () => {
    const swept = responses();
    swept.onApplicationBootstrap();
    expect(queries).toBe(1);
    await jest.advanceTimersByTimeAsync(2 * MINUTE_MS);
    expect(queries).toBe(3);
    await swept.beforeApplicationShutdown();
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('a request with an Idempotency-Key', () => {
  it('runs again when the first one ended between the look and the lock', async () => {
    const rows = [[{ free: true, same: null, answer: null }], []];
    const manager = { query: () => Promise.resolve(rows.shift()) } as unknown as EntityManager;
    const writes = { transaction: (_: unknown, work: (inside: EntityManager) => unknown) => work(manager) };
    const responses = new IdempotentResponses({} as DataSource, writes as unknown as Writes, new CurrentTransaction());
    const owner = { organizationId: 1, keyId: 'a' };
    const response = responses.once(owner, 'k', Buffer.from('f'), () => Promise.resolve('{}'));
    await expect(response).rejects.toBeInstanceOf(Retry);
  });

  it('writes nothing when its response cannot be stored, and its key is free', async () => {
    const lanyard = await startInProcess();
    const { api } = await lanyard.tenant();
    const db = lanyard.app.get(DataSource);
    const create = () => api.post('/leads', leadInput()).set('Idempotency-Key', 'scan-1');
    await db.query('alter table idempotent_answers add constraint no_more check (false) not valid');
    await create().expect(500);
    await db.query('alter table idempotent_answers drop constraint no_more');
    expect((await api.get('/leads').expect(200)).body.results.total).toBe(0);
    const { headers } = await create().expect(200);
    expect(headers).not.toHaveProperty('idempotency-replayed');
  });
});
