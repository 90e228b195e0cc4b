import { Logger } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { IdempotentAnswers } from '../../src/database/idempotent-answers';
import { TryAgain } from '../../src/database/errors';
import { leadInput } from '../support/builders';
import { startInProcess } from '../support/lanyard';

const MINUTE = 60_000;

describe('the sweep of stored answers', () => {
  let batches: (number | Error)[];
  let asked: number;
  const answers = (): IdempotentAnswers =>
    new IdempotentAnswers({
      query: () => {
        asked++;
        const batch = batches.shift() ?? 0;
        return batch instanceof Error ? Promise.reject(batch) : Promise.resolve([[], batch]);
      },
    } as unknown as DataSource);
  beforeEach(() => {
    [batches, asked] = [[], 0];
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('goes on while batches are full, and tells how many there were', async () => {
    batches = [1000, 1000, 999, 1000];
    expect([await answers().sweep(), asked]).toEqual([2999, 3]);
  });

  it('happens at the start and every minute, until the end', async () => {
    const swept = answers();
    swept.onApplicationBootstrap();
    expect(asked).toBe(1);
    await jest.advanceTimersByTimeAsync(MINUTE - 1);
    expect(asked).toBe(1);
    await jest.advanceTimersByTimeAsync(1 + MINUTE);
    expect(asked).toBe(3);
    await swept.beforeApplicationShutdown();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is waited for at the end, but no longer than for its batch', async () => {
    let finish: (batch: [unknown[], number]) => void = () => undefined;
    const query = jest.fn(() => new Promise((resolve) => (finish = resolve)));
    const swept = new IdempotentAnswers({ query } as unknown as DataSource);
    swept.onApplicationBootstrap();
    let isOver = false;
    const over = swept.beforeApplicationShutdown().then(() => (isOver = true));
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(isOver).toBe(false);
    finish([[], 1000]);
    await over;
    expect(query).toHaveBeenCalledTimes(1);
  });

  it('that fails is said in the log, and tried again', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    batches = [Object.assign(new Error('full'), { code: '53100' })];
    const swept = answers();
    swept.onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(warn.mock.calls).toEqual([[{ message: 'Old idempotent answers could not be swept', sqlState: '53100' }]]);
    expect(asked).toBe(2);
    await swept.beforeApplicationShutdown();
  });
});

describe('a request that is sent again', () => {
  it('is tried again when the first one ended between the look and the lock', async () => {
    const rows = [[{ free: true, same: null, answer: null }], []];
    const manager = { query: () => Promise.resolve(rows.shift()) } as unknown as EntityManager;
    const once = { key: 'k', fingerprint: Buffer.from('f'), replayed: () => undefined, refusal: () => new Error() };
    const done = new IdempotentAnswers({} as DataSource).once(manager, 'a', once, () => Promise.resolve('{}'));
    await expect(done).rejects.toBeInstanceOf(TryAgain);
  });
});

describe('an answer that cannot be stored', () => {
  it('takes the write with it, and its key is free', async () => {
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
    await lanyard.stop();
  });
});
