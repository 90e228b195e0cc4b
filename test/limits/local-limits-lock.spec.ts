import {
  COUNT_SERVERS_WITHOUT_REDIS,
  LocalLimitsLock,
  localLimitsWarning,
} from '../../src/rate-limit/local-limits-lock';
import { query } from '../../src/testing/test-database';
import { createTestDatabase } from '../support/database';
import { waitUntil } from '../support/embedded-fixtures';

const HOLDERS =
  "select pid from pg_stat_activity where application_name = 'lanyard-local-limits' and datname = current_database()";

describe('the lock of servers without Redis', () => {
  it('counts its holders, and is held again after its connection was lost', async () => {
    const { url, drop } = await createTestDatabase();
    const locks = [new LocalLimitsLock(url, 10), new LocalLimitsLock(url, 10)] as const;
    expect(await locks[0].hold()).toBe(1);
    expect(await locks[1].hold()).toBe(2);
    const before = await query(url, HOLDERS);
    await query(url, `select pg_terminate_backend(pid) from (${HOLDERS}) holders`);
    await waitUntil(async () => {
      const now = await query(url, HOLDERS);
      return now.length === 2 && !now.some(({ pid }) => before.some((old) => old.pid === pid));
    });
    await waitUntil(async () => (await query(url, COUNT_SERVERS_WITHOUT_REDIS))[0]?.servers === 2);
    const third = new LocalLimitsLock(url, 10);
    expect(await third.hold()).toBe(3);
    for (const lock of [...locks, third]) await lock.release();
    await waitUntil(async () => (await query(url, HOLDERS)).length === 0);
    await drop();
  });

  it('is no condition of a start: without a database nothing is known', async () => {
    const lock = new LocalLimitsLock('postgres://lanyard@127.0.0.1:1/none');
    expect(await lock.hold()).toBeUndefined();
    await lock.release();
  });

  it('says how often a key gets its limits', () => {
    expect(localLimitsWarning(3)).toMatch(/^2 other servers without Redis use .* its limits 3 times\./);
  });
});
