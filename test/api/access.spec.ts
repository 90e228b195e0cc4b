import { ForbiddenException, Logger } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { DataSource } from 'typeorm';
import { AccessGuard } from '../../src/access/access.guard';
import { AccessService } from '../../src/access/access.service';
import { ApiKeysService } from '../../src/access/api-keys.service';
import { AuthenticationFailures, sourceOf } from '../../src/access/authentication-failures';
import { InProcessFailures } from '../../src/access/in-process-failures';
import { newKey } from '../../src/access/key-format';
import { OrganizationsService } from '../../src/access/organizations.service';
import { Config } from '../../src/config';
import { dataSourceOptions, poolOf } from '../../src/database/data-source';
import { type TestDatabase, testDatabase } from '../support/database';

const MINUTE = 60_000;

/** A data source that knows one key, and is answered by hand. */
function database(known: object | undefined) {
  const lookUps: { hashes: Buffer[]; answer: (rows?: object[]) => void; fail: () => void }[] = [];
  const uses: [ids: string[], requests: number[]][] = [];
  const lookUp = (hashes: Buffer[]): Promise<object[]> =>
    new Promise((resolve, reject) => {
      const rows = known ? hashes.map((hash) => ({ ...known, hash: hash.toString('base64') })) : [];
      lookUps.push({ hashes, answer: (given = rows) => resolve(given), fail: () => reject(new Error('away')) });
    });
  const source = {
    failsToWrite: false,
    query: (sql: string, values: unknown[]) => {
      if (!sql.includes('update api_keys')) return lookUp(values[0] as Buffer[]);
      uses.push(values as (typeof uses)[0]);
      return source.failsToWrite ? Promise.reject(new Error('away')) : Promise.resolve();
    },
  };
  const access = new AccessService(source as unknown as DataSource);
  return { source, access, lookUps, uses };
}

describe('who a key speaks for', () => {
  const caller = { keyId: 'k', organizationId: 1, maxTokens: 20, refillRate: 1, expiresAt: Infinity };
  let now = 0;
  const pass = async (milliseconds: number): Promise<void> => {
    now += milliseconds;
    await jest.advanceTimersByTimeAsync(milliseconds);
  };
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance'] });
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    now = 1_000_000;
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('is looked up once for requests that arrive together', async () => {
    const { access, lookUps } = database(caller);
    const key = newKey();
    const asked = [access.callerOf(key), access.callerOf(key), access.callerOf(key)];
    expect(lookUps).toHaveLength(1);
    lookUps[0]?.answer();
    expect(await Promise.all(asked)).toEqual([caller, caller, caller]);
    void access.callerOf(newKey());
    expect(lookUps).toHaveLength(2);
  });

  it('is asked in one statement after the other for all keys that wait, and no key is refused', async () => {
    const { access, lookUps } = database(caller);
    const asked = Array.from({ length: 3000 }, () => access.callerOf(newKey()));
    for (let next = 0; next < lookUps.length; next++) {
      expect(lookUps).toHaveLength(next + 1);
      lookUps[next]?.answer();
      await new Promise(setImmediate);
    }
    expect(lookUps.map(({ hashes }) => hashes.length)).toEqual([1, 1000, 1000, 999]);
    expect(await Promise.all(asked)).toEqual(asked.map(() => caller));
  });

  it('is told to each key, also when the answer has them in another order, and not all of them', async () => {
    const { access, lookUps } = database(undefined);
    const keys = [newKey(), newKey(), newKey(), newKey()];
    const asked = keys.map((key) => access.callerOf(key));
    lookUps[0]?.answer();
    await new Promise(setImmediate);
    const row = (n: number) => ({ ...caller, keyId: `k${n}`, hash: lookUps[1]?.hashes[n]?.toString('base64') });
    lookUps[1]?.answer([row(2), row(0)]);
    const [second, fourth] = [0, 2].map((n) => ({ ...caller, keyId: `k${n}` }));
    expect(await Promise.all(asked)).toEqual([undefined, second, undefined, fourth]);
    expect(keys.map((key) => access.rememberedCallerOf(key))).toEqual([undefined, second, undefined, fourth]);
    await Promise.all(keys.map((key) => access.callerOf(key)));
    expect(lookUps).toHaveLength(2);
  });

  it.each([
    ['known', caller],
    ['unknown', undefined],
  ])('is remembered for four seconds from the moment of the question: %s', async (_, known) => {
    const { access, lookUps } = database(known);
    const key = newKey();
    expect(access.rememberedCallerOf(key)).toBeUndefined();
    const asked = access.callerOf(key);
    await pass(1000);
    lookUps[0]?.answer();
    expect(await asked).toEqual(known);
    await pass(2999);
    expect([await access.callerOf(key), access.rememberedCallerOf(key)]).toEqual([known, known]);
    expect(lookUps).toHaveLength(1);
    await pass(2);
    expect(access.rememberedCallerOf(key)).toBeUndefined();
    void access.callerOf(key);
    expect(lookUps).toHaveLength(2);
  });

  it('is not looked up for what has not the form of a key', async () => {
    const { access, lookUps } = database(caller);
    expect(await access.callerOf(`${newKey()}x`)).toBeUndefined();
    expect(lookUps).toEqual([]);
  });

  it('ends at the moment at which the key expires, remembered or not', async () => {
    const { access, lookUps } = database({ ...caller, expiresAt: Date.now() + 1000 });
    const key = newKey();
    const asked = access.callerOf(key);
    lookUps[0]?.answer();
    expect(await asked).toBeDefined();
    await pass(999);
    expect(access.rememberedCallerOf(key)).toBeDefined();
    await pass(1);
    expect([access.rememberedCallerOf(key), await access.callerOf(key)]).toEqual([undefined, undefined]);
  });

  it('is asked again after a failure: a key is not refused for that', async () => {
    const { access, lookUps } = database(caller);
    const key = newKey();
    const asked = access.callerOf(key);
    lookUps[0]?.fail();
    await expect(asked).rejects.toThrow('away');
    const again = access.callerOf(key);
    lookUps[1]?.answer();
    expect(await again).toEqual(caller);
  });

  const use = async ({ access, lookUps }: ReturnType<typeof database>): Promise<void> => {
    const asked = access.callerOf(newKey());
    lookUps.at(-1)?.answer();
    await asked;
  };

  it('is noted once a minute, with the number of requests, and not when nobody came', async () => {
    const db = database(caller);
    await use(db);
    await use(db);
    await pass(MINUTE - 1);
    expect(db.uses).toEqual([]);
    await pass(1);
    expect(db.uses).toEqual([[['k'], [2]]]);
    await pass(2 * MINUTE);
    expect(db.uses).toEqual([[['k'], [2]]]);
    await use(db);
    await pass(MINUTE);
    expect(db.uses).toEqual([
      [['k'], [2]],
      [['k'], [1]],
    ]);
  });

  it('is noted when the server stops, and then no more', async () => {
    const db = database(caller);
    await use(db);
    await db.access.onApplicationShutdown();
    expect([db.uses, jest.getTimerCount()]).toEqual([[[['k'], [1]]], 0]);
    await db.access.onApplicationShutdown();
    expect(db.uses).toEqual([[['k'], [1]]]);
  });

  it('is not noted when that fails, which is said and disturbs nobody', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const db = database(caller);
    db.source.failsToWrite = true;
    await use(db);
    await pass(MINUTE);
    expect(warn.mock.calls).toEqual([[{ message: 'The last use of the keys could not be written' }]]);
  });
});

describe('keys that are looked up in PostgreSQL', () => {
  let database: TestDatabase;
  let db: DataSource;
  beforeAll(async () => {
    database = await testDatabase();
    db = await new DataSource(dataSourceOptions(database.url, 2)).initialize();
  });
  afterAll(async () => {
    await db.destroy();
    await database.drop();
  });

  it('speak for their organizations, in a burst of invented ones too, which leaves the connections to others', async () => {
    const keys = new ApiKeysService(db.manager);
    const issue = async (settings = {}) =>
      keys.issue((await new OrganizationsService(db.manager).create('Cobalt Systems')).id, settings);
    const [one, other, revoked] = [await issue(), await issue({ maxTokens: 7, refillRate: 0.5 }), await issue()];
    await keys.revoke(revoked.id);
    const access = new AccessService(db);
    const invented = Array.from({ length: 2500 }, () => access.callerOf(newKey()));
    const asked = [one, other, revoked].map(({ key }) => access.callerOf(key));
    expect(poolOf(db).waitingCount).toBeLessThanOrEqual(1);
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
    const callers = [one, other].map(({ id, organizationId, maxTokens, refillRate }) => {
      return { keyId: id, organizationId, maxTokens, refillRate, expiresAt: Infinity };
    });
    expect(await Promise.all(asked)).toEqual([...callers, undefined]);
    expect(new Set(await Promise.all(invented))).toEqual(new Set([undefined]));
  });
});

describe('failures to authenticate', () => {
  const response = () => {
    const headers: Record<string, unknown> = {};
    return { headers, setHeader: (name: string, value: unknown) => void (headers[name] = value) };
  };
  const counting = (increment: (address: string) => Promise<object>) =>
    new AuthenticationFailures({ increment } as unknown as ThrottlerStorage, new Config({ authenticationFailures: 3 }));

  it.each([
    [59, 59],
    [0, 1],
  ])('of an address that is blocked for %i s more are told to wait for %i s', async (timeToBlockExpire, seconds) => {
    jest.spyOn(Date, 'now').mockReturnValue(1_000_001);
    const failures = counting(() => Promise.resolve({ isBlocked: true, timeToBlockExpire }));
    const sent = response();
    await expect(failures.count('a', sent as never)).rejects.toMatchObject({ status: 429 });
    expect(sent.headers).toEqual({
      ...{ 'X-RateLimit-Limit': 3, 'X-RateLimit-Remaining': 0, 'X-RateLimit-Reset': 1001 + seconds },
      'Retry-After': seconds,
    });
  });

  it.each([
    ['fails', () => Promise.reject(new Error('away'))],
    ['does not answer', () => new Promise<object>(() => undefined)],
    ['has counted few', () => Promise.resolve({ isBlocked: false })],
  ])('are let pass when the counter %s', async (_, increment) => {
    const sent = response();
    await counting(increment).count('a', sent as never);
    expect(sent.headers).toEqual({});
  });

  it('are those of the address that the request came from', async () => {
    const counted: string[] = [];
    const failures = counting((address) => {
      counted.push(address);
      return Promise.resolve({});
    });
    const answer = asked(new AccessGuard(new Reflector(), database(undefined).access, failures), 'x');
    await expect(answer).rejects.toBeInstanceOf(ForbiddenException);
    await failures.count('2001:db8::7', response() as never);
    expect(counted).toEqual(['192.0.2.7', '2001:db8:0:0::/64']);
  });

  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:207', '192.0.2.7'],
    ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7%eth0', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002:ffff::', '2001:db8:1:2::/64'],
    ['2001:db8:1:3:3:4:5:6', '2001:db8:1:3::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['2001:db8::2:3:4:5:6', '2001:db8:0:2::/64'],
    ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
    ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
    ['1::', '1:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
    ['1:2:3::192.0.2.7', '1:2:3:0::/64'],
    ['::1:ffff:192.0.2.7', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [`fe80::1%${'x'.repeat(14_000)}`, 'fe80:0:0:0::/64'],
    ['', 'no address'],
    ['unknown', 'no address'],
    ['192.0.2.7:4711', 'no address'],
    ['2001:db8::/32', 'no address'],
    ['x'.repeat(14_000), 'no address'],
  ])('count for what one client may have: %.40s', (address, source) => {
    expect(sourceOf(address)).toBe(source);
  });

  describe('in process', () => {
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
    const pass = (milliseconds: number): void => {
      now += milliseconds;
      jest.advanceTimersByTime(milliseconds);
    };
    const one = 'one';
    /** The seconds for which the failure's source is refused, after so many more of it. */
    const fail = async (failures: InProcessFailures, source = one, times = 1): Promise<number> => {
      for (let n = 1; n < times; n++) await failures.increment(source, MINUTE, 3, MINUTE);
      const { isBlocked, timeToBlockExpire } = await failures.increment(source, MINUTE, 3, MINUTE);
      expect(isBlocked).toBe(timeToBlockExpire > 0);
      return timeToBlockExpire;
    };

    it('are counted over a minute from the first one on, each source by itself', async () => {
      const failures = new InProcessFailures();
      expect(await fail(failures)).toBe(0);
      pass(MINUTE - 1);
      expect(await fail(failures, one, 2)).toBe(0);
      expect(await fail(failures, 'other', 3)).toBe(0);
      pass(2);
      expect(await fail(failures, one, 3)).toBe(0);
      expect(await failures.increment(one, MINUTE, 3, MINUTE)).toEqual({
        ...{ totalHits: 4, timeToExpire: 60, isBlocked: true, timeToBlockExpire: 60 },
      });
    });

    it('refuse their source for a minute from the one too many on, and then count anew', async () => {
      const failures = new InProcessFailures();
      expect(await fail(failures, one, 3)).toBe(0);
      pass(MINUTE / 2);
      expect(await fail(failures)).toBe(60);
      pass(MINUTE - 1000);
      expect(await fail(failures, one, 5)).toBe(1);
      pass(1001);
      expect(await fail(failures, one, 3)).toBe(0);
      expect(await fail(failures)).toBe(60);
    });

    it('are kept of ten thousand sources at a time, and forgotten of who failed longest ago', async () => {
      const failures = new InProcessFailures();
      expect([await fail(failures, one, 4), await fail(failures, 'other', 4)]).toEqual([60, 60]);
      for (let n = 2; n < 10_000; n++) await fail(failures, `${n}`);
      expect([await fail(failures), await fail(failures, 'new')]).toEqual([60, 0]);
      expect([await fail(failures), await fail(failures, 'other')]).toEqual([60, 0]);
    });
  });

  it('are not waited for, and neither is a look-up, by who was known a moment ago', async () => {
    const { access, lookUps } = database({ expiresAt: Infinity });
    const key = newKey();
    const guard = new AccessGuard(
      new Reflector(),
      access,
      counting(() => new Promise(() => undefined)),
    );
    const first = asked(guard, key);
    lookUps[0]?.answer();
    expect(await first).toBe(true);
    expect(asked(guard, key)).toBe(true);
  });

  /** What the guard says to a request with this key. */
  const asked = (guard: AccessGuard, key: string) => {
    const request = { headers: { 'x-api-key': key }, ip: '192.0.2.7' };
    const http = { getRequest: () => request, getResponse: response };
    const context = { getHandler: () => asked, getClass: () => AccessGuard, switchToHttp: () => http };
    return guard.canActivate(context as never);
  };
});
