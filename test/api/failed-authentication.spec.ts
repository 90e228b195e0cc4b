import { InProcessThrottlerStorage } from '../../src/access/in-process-throttler.storage';
import { type InProcess, startInProcess } from '../support/lanyard';
import { NO_SERVER, RedisServer, unless } from '../support/redis-server';

const MINUTE_MS = 60_000;

describe('failures to authenticate', () => {
  let lanyard: InProcess;
  beforeEach(async () => {
    lanyard = await startInProcess({ authenticationFailures: 3, redisUrl: undefined, trustProxy: 1 });
  });
  afterEach(() => lanyard.stop());

  /** The statuses of requests with invalid keys from these addresses. */
  const fail = async (...addresses: string[]): Promise<number[]> => {
    const statuses = [];
    for (const address of addresses) {
      statuses.push((await lanyard.client('x').get('/leads').set('X-Forwarded-For', address)).status);
    }
    return statuses;
  };

  it('end in 429 after too many, for a minute; a valid key of the same address passes', async () => {
    const tenant = await lanyard.tenant();
    const missing = await lanyard.client().get('/leads').set('X-Forwarded-For', '192.0.2.7').expect(401);
    expect(Object.keys(missing.headers).filter((header) => /ratelimit|retry/.test(header))).toEqual([]);
    expect(await fail('192.0.2.7', '192.0.2.7', '192.0.2.7', '192.0.2.8')).toEqual([403, 403, 429, 403]);
    const { body, headers } = await lanyard.client('x').get('/leads').set('X-Forwarded-For', '192.0.2.7');
    expect(body).toEqual({ status: 429, error: 'Too Many Requests' });
    const retryAfter = Number(headers['retry-after']);
    expect(retryAfter).toBeGreaterThan(30);
    expect(retryAfter).toBeLessThanOrEqual(60);
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '0' });
    const untilReset = Number(headers['x-ratelimit-reset']) - Date.now() / 1000;
    expect(Math.abs(untilReset - retryAfter)).toBeLessThan(10);
    await tenant.api.get('/leads').set('X-Forwarded-For', '192.0.2.7').expect(200);
  });

  it('of IPv6 addresses of one /64 count together', async () => {
    const addresses = ['2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::4'];
    expect(await fail(...addresses, '2001:db8:1:3::1')).toEqual([403, 403, 403, 429, 403]);
    expect(await fail('::ffff:192.0.2.9', '192.0.2.9', '192.0.2.9', '192.0.2.9')).toEqual([403, 403, 403, 429]);
  });
});

unless(NO_SERVER)(`failures to authenticate that are counted in Redis${NO_SERVER}`, () => {
  it('refuse no request while Redis does not answer', async () => {
    const redis = await RedisServer.start();
    const lanyard = await startInProcess({ authenticationFailures: 1, redisUrl: redis.url });
    const fail = async () => (await lanyard.client('x').get('/leads')).status;
    expect([await fail(), await fail()]).toEqual([403, 429]);
    redis.signal('SIGSTOP');
    expect([await fail(), await fail(), await fail()]).toEqual([403, 403, 403]);
    redis.signal('SIGCONT');
    await redis.kill();
    expect(await fail()).toBe(403);
    await lanyard.stop();
  });
});

describe('failures that are counted in process', () => {
  let now = 0;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'performance'] });
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    now = 1_000_000;
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });
  const pass = (milliseconds: number): void => {
    now += milliseconds;
    jest.advanceTimersByTime(milliseconds); // the cache reads the clock once a millisecond
  };

  /** The seconds for which the address is blocked after so many more failures. */
  const fail = async (storage: InProcessThrottlerStorage, address: string, times = 1): Promise<number> => {
    for (let n = 1; n < times; n++) await storage.increment(address, MINUTE_MS, 3, MINUTE_MS);
    const { isBlocked, timeToBlockExpire } = await storage.increment(address, MINUTE_MS, 3, MINUTE_MS);
    expect(isBlocked).toBe(timeToBlockExpire > 0);
    return timeToBlockExpire;
  };

  it('are of the minute after the first one, or block their address for one', async () => {
    const storage = new InProcessThrottlerStorage();
    expect(await fail(storage, 'a', 3)).toBe(0);
    pass(MINUTE_MS + 1);
    expect(await fail(storage, 'a', 3)).toBe(0);
    pass(MINUTE_MS / 2);
    expect([await fail(storage, 'a'), await fail(storage, 'b')]).toEqual([60, 0]);
    pass(MINUTE_MS - 1000);
    expect(await fail(storage, 'a')).toBe(1);
    pass(1001);
    expect(await fail(storage, 'a')).toBe(0);
  });

  it('are kept of ten thousand addresses, and dropped of those that failed longest ago', async () => {
    const storage = new InProcessThrottlerStorage();
    expect([await fail(storage, 'a', 4), await fail(storage, 'b', 4)]).toEqual([60, 60]);
    for (let n = 2; n < 10_000; n++) await fail(storage, `${n}`);
    expect([await fail(storage, 'a'), await fail(storage, 'new')]).toEqual([60, 0]);
    expect([await fail(storage, 'a'), await fail(storage, 'b')]).toEqual([60, 0]);
  });
});
