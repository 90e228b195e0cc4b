import { Logger } from '@nestjs/common';
import { DataSource, QueryFailedError } from 'typeorm';
import { AccessService, ADD_USAGE } from '../../src/access/access.service';
import { BoundedThrottlerStorage } from '../../src/access/failed-authentication.throttler';
import { generateKey } from '../../src/access/key-format';
import { Overloaded } from '../../src/errors/exceptions';
import { type InProcess, startInProcess } from '../support/lanyard';

/** A data source that knows one key; the test answers its look-ups. */
function database(known: object | undefined) {
  const lookUps: { hashes: Buffer[]; answer: (rows?: object[]) => void; fail: (error: Error) => void }[] = [];
  const uses: [ids: string[], requests: number[], lastAt: Date[]][] = [];
  const lookUp = (_: string, [hashes = []]: Buffer[][]): Promise<{ rows: object[] }> =>
    new Promise((resolve, fail) => {
      const all = known ? hashes.map((hash) => ({ ...known, hash: hash.toString('base64') })) : [];
      lookUps.push({ hashes, answer: (rows = all) => resolve({ rows }), fail });
    });
  const storeUsage = (values: unknown[]): Promise<void> => {
    uses.push(values as (typeof uses)[0]);
    return source.failsToWrite ? Promise.reject(new Error('away')) : Promise.resolve();
  };
  const query = (text: string, values: unknown[]) =>
    text === ADD_USAGE ? storeUsage(values) : lookUp(text, values as Buffer[][]);
  const source = { failsToWrite: false, driver: { master: { query } } };
  const access = new AccessService(source as unknown as DataSource);
  return { source, access, lookUps, uses };
}

/** Of timers and clocks, for the suite that calls it. @returns passes so many milliseconds */
function fakeTime(): (milliseconds: number) => Promise<void> {
  let now = 0;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance'] });
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    now = 1_000_000;
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });
  return async (milliseconds) => {
    now += milliseconds;
    await jest.advanceTimersByTimeAsync(milliseconds);
  };
}

describe('the caller of a key', () => {
  const caller = {
    keyId: 'k',
    organizationId: 1,
    organizationName: 'Cobalt',
    maxTokens: 20,
    refillRate: 1,
    expiresAt: Infinity,
  };
  const pass = fakeTime();

  it('is looked up with all others that wait, in one statement after another, and none is refused', async () => {
    const { access, lookUps } = database(caller);
    const asked = Array.from({ length: 3000 }, () => access.findCaller(generateKey()));
    for (let next = 0; next < lookUps.length; next++) {
      expect(lookUps).toHaveLength(next + 1);
      lookUps[next]?.answer();
      await new Promise(setImmediate);
    }
    expect(lookUps.map(({ hashes }) => hashes.length)).toEqual([1, 1000, 1000, 999]);
    expect(await Promise.all(asked)).toEqual(asked.map(() => caller));
  });

  it.each([
    ['known', caller],
    ['unknown', undefined],
  ])('is cached for four seconds from the start of the look-up: %s', async (_, known) => {
    const { access, lookUps } = database(known);
    const key = generateKey();
    const asked = access.findCaller(key);
    await pass(1000);
    lookUps[0]?.answer();
    expect(await asked).toEqual(known);
    await pass(2999);
    expect(await access.findCaller(key)).toEqual(known);
    expect(lookUps).toHaveLength(1);
    await pass(2);
    void access.findCaller(key);
    expect(lookUps).toHaveLength(2);
  });

  it('is not looked up for a malformed key', async () => {
    const { access, lookUps } = database(caller);
    expect(await access.findCaller(`${generateKey()}x`)).toBeUndefined();
    expect(lookUps).toEqual([]);
  });

  it('is none from the moment at which the key expires, cached or not', async () => {
    const { access, lookUps } = database({ ...caller, expiresAt: Date.now() + 1000 });
    const key = generateKey();
    const asked = access.findCaller(key);
    lookUps[0]?.answer();
    expect(await asked).toBeDefined();
    await pass(999);
    expect(await access.findCaller(key)).toBeDefined();
    await pass(1);
    expect(await access.findCaller(key)).toBeUndefined();
  });

  it.each([
    ['a lost connection', new Error('Connection terminated'), Overloaded],
    ['another error', new TypeError(), QueryFailedError],
  ])('is looked up again after %s: a key is not refused for that', async (_, error, expected) => {
    const { access, lookUps } = database(caller);
    const key = generateKey();
    const first = access.findCaller(key);
    lookUps[0]?.fail(error);
    await expect(first).rejects.toBeInstanceOf(expected);
    const second = access.findCaller(key);
    lookUps[1]?.answer();
    expect(await second).toEqual(caller);
  });
});

describe('the use of keys', () => {
  const pass = fakeTime();

  it('is stored once a minute, by the order of ids; when that fails, it is logged', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const { access, lookUps, source, uses } = database({});
    await pass(60_000);
    for (const [nth, keyId] of ['b', 'a', 'b'].entries()) {
      const asked = access.findCaller(generateKey());
      lookUps[nth]?.answer([{ keyId, expiresAt: Infinity, hash: lookUps[nth].hashes[0]?.toString('base64') }]);
      await asked;
    }
    const usedAt = new Date();
    source.failsToWrite = true;
    await pass(60_000);
    expect(uses).toEqual([
      [
        ['a', 'b'],
        [1, 2],
        [usedAt, usedAt],
      ],
    ]);
    expect(warn).toHaveBeenCalledWith({ message: 'Cannot store the usage of API keys' });
    await access.onApplicationShutdown();
    expect(uses).toHaveLength(1);
  });
});

describe('failures of an address', () => {
  const pass = fakeTime();
  let storage: BoundedThrottlerStorage;
  beforeEach(() => (storage = new BoundedThrottlerStorage()));

  const fail = async (address = 'a') => {
    const { totalHits, isBlocked, timeToBlockExpire } = await storage.increment(address, 60_000, 2);
    return [totalHits, isBlocked, timeToBlockExpire];
  };

  it('are counted for a minute from the first one, and refused for a minute from the first too many', async () => {
    expect(await fail()).toEqual([1, false, 60]);
    await pass(30_000);
    expect(await fail()).toEqual([2, false, 30]);
    await pass(29_000);
    expect(await fail()).toEqual([3, true, 60]);
    await pass(50_000);
    expect(await fail()).toEqual([4, true, 10]);
    await pass(10_001);
    expect(await fail()).toEqual([1, false, 60]);
  });

  it('are counted for the ten thousand addresses that failed last', async () => {
    for (let address = 0; address < 10_000; address++) await fail(String(address));
    expect(await fail('0')).toEqual([2, false, 60]);
    await fail('one more');
    expect(await fail('1')).toEqual([1, false, 60]);
  });
});

describe('failures to authenticate', () => {
  let lanyard: InProcess;
  beforeEach(async () => {
    lanyard = await startInProcess({ authenticationFailures: 3, trustProxy: 1 });
  });

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
