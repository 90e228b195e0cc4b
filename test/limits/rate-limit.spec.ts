import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import { RedisTokenBucketStore } from '../../src/http/rate-limit/redis-token-bucket.store';
import { TAKE_TOKEN } from '../../src/http/rate-limit/take-token.lua';
import { type BucketLimits, limitsError, type TakeResult } from '../../src/http/rate-limit/token-bucket';
import { TokenBucketStore } from '../../src/http/rate-limit/token-bucket.store';
import { RedisConnection } from '../../src/http/rate-limit/redis';
import { Proxy } from '../support/servers/proxy';
import { NO_REDIS, NO_SERVER, RedisServer, redisUrl } from '../support/servers/redis-server';
import { describeUnless } from '../support/skipping';
import { waitUntil } from '../support/wait';

const SECOND = 1_000_000;
const YEAR = 365 * 24 * 3600 * SECOND;
/** 2026-03-01 00:00:00 UTC in microseconds: a whole second, so that rounding shows. */
const START = 1_772_323_200 * SECOND;
const DEFAULTS: BucketLimits = { maxTokens: 20, refillRate: 1 };
const STANDING: BucketLimits = { maxTokens: 5, refillRate: 0.001 };
/** Runs of up to 60 steps; raise it for a long run. */
const RANDOM_RUNS = Number(process.env.RATE_LIMIT_RANDOM_RUNS ?? 60);

function fakeClock(now = START) {
  const clock = { now, read: () => clock.now };
  return clock;
}

/** What the stores have in common. */
interface Buckets {
  take(keyId: string, limits: BucketLimits): Promise<TakeResult>;
}

async function takeAll(store: Buckets, keyId: string, limits: BucketLimits): Promise<TakeResult> {
  let taken = await store.take(keyId, limits);
  while (taken.isAdmitted) taken = await store.take(keyId, limits);
  return taken;
}

/** Exact arithmetic, written from the definition: rational numbers, each answer one quotient. */
class ExactBucket {
  private tokens = 0n;
  private time = 0n;
  private limits?: { max: bigint; rate: bigint };

  take(wanted: BucketLimits, micros: number): TakeResult {
    const now = BigInt(micros);
    const limits = {
      max: BigInt(wanted.maxTokens) * 10n ** 9n,
      rate: BigInt(wanted.refillRate.toFixed(3).replace('.', '')),
    };
    const held = this.limits ?? limits;
    // A time that lies ahead by more than a second is that of a clock that was set back since.
    const isLate = this.time - now > 1_000_000n;
    if (isLate) this.time = now;
    const time = this.limits && this.time > now ? this.time : now;
    const credited = this.limits ? this.tokens + (time - this.time) * held.rate : limits.max;
    const cut = credited >= held.max ? limits.max : credited < limits.max ? credited : limits.max;
    const admitted = cut >= 10n ** 9n;
    const tokens = admitted ? cut - 10n ** 9n : cut;
    if (admitted || held.max !== limits.max || held.rate !== limits.rate) Object.assign(this, { tokens, time, limits });
    /** The least whole second s with tokens + (s − time) × rate >= amount. */
    const secondOf = (amount: bigint, origin: bigint) => {
      const numerator = amount - tokens + (time - origin) * limits.rate;
      const denominator = limits.rate * 1_000_000n;
      return Number((numerator + denominator - 1n) / denominator);
    };
    return {
      isAdmitted: admitted,
      remaining: Number(tokens / 10n ** 9n),
      resetAt: secondOf(limits.max, 0n),
      retryAfter: admitted ? 0 : secondOf(10n ** 9n, now),
    };
  }
}

const anyLimits: fc.Arbitrary<BucketLimits> = fc.record({
  maxTokens: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 9_000_000 }), fc.constant(9_000_000)),
  refillRate: fc
    .oneof(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 1_000_000_000 }), fc.constant(1_000_000_000))
    .map((milli) => milli / 1000),
});
const anyStep = fc.record({
  /** µs; mostly around the time of one token, sometimes years (not past 2255, where 2^53 ends), sometimes back */
  advance: fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 3 * SECOND }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 3 * YEAR }) },
    { weight: 1, arbitrary: fc.integer({ min: -10 * SECOND, max: 0 }) },
  ),
  limits: fc.option(anyLimits, { freq: 8 }),
  takes: fc.integer({ min: 1, max: 4 }),
  /** whether to wait after a refusal as long as the answer says */
  waits: fc.boolean(),
});

/** The script as it is, but for its clock: tests of the exact arithmetic cannot wait on a real one. */
const WITH_CLOCK = { numberOfKeys: 1, lua: TAKE_TOKEN.replace("redis.call('TIME')", '{0, ARGV[3]}') };

/** The store in Redis, on its own clock or on another one. */
function redisStore(clock?: () => number): RedisTokenBucketStore {
  if (!clock) return new RedisTokenBucketStore(connection);
  redis.defineCommand('takeTokenAt', WITH_CLOCK);
  const { takeTokenAt } = redis as unknown as { takeTokenAt: (...args: unknown[]) => Promise<number[]> };
  const client = {
    defineCommand: () => undefined,
    takeToken: (...args: unknown[]) => takeTokenAt.call(redis, ...args, clock()),
  };
  const run = <T>(command: () => Promise<T>): Promise<T> => command();
  return new RedisTokenBucketStore({ client, run } as unknown as RedisConnection);
}

const stores = [
  {
    name: 'in process',
    missing: '',
    open: (clock?: () => number): Buckets => new TokenBucketStore(undefined, clock, clock),
  },
  {
    name: `Redis${NO_REDIS}`,
    missing: NO_REDIS,
    open: (clock?: () => number): Buckets => {
      const store = redisStore(clock);
      return { take: async (keyId, limits) => (await store.take(keyId, limits)).result };
    },
  },
];

let connection: RedisConnection;
let redis: RedisConnection['client'];

beforeAll(async () => {
  if (NO_REDIS) return;
  connection = new RedisConnection(await redisUrl());
  redis = connection.client;
  await connection.waitUntilReady();
});

afterAll(() => connection?.close());

describe.each(stores)('token bucket, $name', ({ missing, open }) => {
  const test = missing ? it.skip : it;
  let clock: ReturnType<typeof fakeClock>;
  let store: Buckets;
  let key: string;

  beforeEach(() => {
    clock = fakeClock();
    store = open(clock.read);
    key = randomUUID();
  });

  test('keeps tokens when limits rise, and fills up to the new maximum', async () => {
    await takeAll(store, key, { maxTokens: 2, refillRate: 1 });
    expect(await store.take(key, { maxTokens: 50, refillRate: 10 })).toMatchObject({
      isAdmitted: false,
      retryAfter: 1,
    });
    clock.now += SECOND;
    expect(await store.take(key, { maxTokens: 50, refillRate: 10 })).toMatchObject({ remaining: 9 });
    clock.now += 60 * SECOND;
    expect(await store.take(key, { maxTokens: 50, refillRate: 10 })).toMatchObject({ remaining: 49 });
  });

  test('cuts tokens when limits fall, and keeps a full bucket full when they change', async () => {
    await store.take(key, DEFAULTS);
    expect(await store.take(key, { maxTokens: 5, refillRate: 1 })).toMatchObject({ isAdmitted: true, remaining: 4 });
    clock.now += SECOND;
    expect(await store.take(key, DEFAULTS)).toMatchObject({ remaining: 19 });
    await takeAll(store, key, DEFAULTS);
    expect(await store.take(key, { maxTokens: 1, refillRate: 0.001 })).toMatchObject({ retryAfter: 1000 });
  });

  test('delays nobody by more than a second when the clock is set back, and admits at most one bucket more', async () => {
    await takeAll(store, key, DEFAULTS);
    clock.now += 3600 * SECOND;
    expect(await store.take(key, DEFAULTS)).toMatchObject({ isAdmitted: true, remaining: 19 });
    await takeAll(store, key, DEFAULTS);
    clock.now -= 3600 * SECOND;
    expect(await store.take(key, DEFAULTS)).toMatchObject({ isAdmitted: false, retryAfter: 1 });
    clock.now -= SECOND;
    expect(await store.take(key, DEFAULTS)).toMatchObject({ isAdmitted: false, retryAfter: 2 });
    clock.now += 2 * SECOND;
    expect(await store.take(key, DEFAULTS)).toMatchObject({ isAdmitted: true, remaining: 0 });
  });

  test('agrees with exact arithmetic, and admits who waited as long as the answer said', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyLimits,
        fc.array(anyStep, { minLength: 1, maxLength: 60, size: 'max' }),
        async (first, steps) => {
          clock.now = START;
          const id = randomUUID();
          const exact = new ExactBucket();
          let limits = first;
          for (const step of steps) {
            clock.now += step.advance;
            limits = step.limits ?? limits;
            for (let i = 0; i < step.takes; i++) {
              const taken = await store.take(id, limits);
              expect(taken).toEqual(exact.take(limits, clock.now));
              if (taken.isAdmitted || !step.waits) continue;
              clock.now += taken.retryAfter * SECOND;
              expect(await store.take(id, limits)).toMatchObject({ isAdmitted: true });
              exact.take(limits, clock.now);
            }
          }
        },
      ),
      { seed: 1, numRuns: RANDOM_RUNS },
    );
  });
});

describeUnless(NO_REDIS)(`token bucket, Redis's own part${NO_REDIS}`, () => {
  let clock: ReturnType<typeof fakeClock>;
  let store: RedisTokenBucketStore;
  let id: string;
  let key: string;

  beforeEach(() => {
    clock = fakeClock();
    store = redisStore(clock.read);
    id = randomUUID();
    key = `rl:v1:${id}`;
  });

  it('lets a bucket expire a second after it is full, which changes no answer', async () => {
    await store.take(id, { maxTokens: 1, refillRate: 0.001 });
    expect(await redis.pttl(key)).toBeGreaterThan(1_000_000);
    expect(await redis.pttl(key)).toBeLessThanOrEqual(1_001_000);
    await redis.pexpire(key, 1);
    await waitUntil(async () => !(await redis.exists(key)));
    const { result } = await store.take(id, { maxTokens: 1, refillRate: 0.001 });
    expect(result).toMatchObject({ isAdmitted: true, remaining: 0 });
  });

  it("goes by Redis's clock", async () => {
    const { now } = await new RedisTokenBucketStore(connection).take(id, DEFAULTS);
    const [seconds] = await redis.time();
    expect(Math.abs(Number(seconds) - now / SECOND)).toBeLessThan(2);
  });

  it('survives SCRIPT FLUSH without a token lost or won', async () => {
    await store.take(id, DEFAULTS);
    await redis.script('FLUSH');
    expect((await store.take(id, DEFAULTS)).result).toMatchObject({ isAdmitted: true, remaining: 18 });
  });
});

describeUnless(NO_SERVER)(`token bucket, Redis away${NO_SERVER}`, () => {
  it('waits for Redis once more after the process, and all others, stood still', async () => {
    const server = await RedisServer.start();
    // In this process, so that Redis receives nothing meanwhile, either.
    const proxy = await Proxy.to(Number(new URL(server.url).port));
    const connection = new RedisConnection(`redis://127.0.0.1:${proxy.port}/0`);
    await connection.waitUntilReady();
    const store = new TokenBucketStore(new RedisTokenBucketStore(connection));
    await store.take('k', STANDING);
    for (let times = 0; times < 3; times++) {
      const taken = store.take('k', STANDING);
      await nextTurn();
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
      await taken;
    }
    expect(store.degradedDecisions).toBe(0);
    await connection.close();
    proxy.close();
  });

  it('decides from its last state while Redis is silent, and by that of Redis when it answers again', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const server = await RedisServer.start();
    const proxy = await Proxy.to(Number(new URL(server.url).port));
    const connection = new RedisConnection(`redis://127.0.0.1:${proxy.port}/0`);
    await connection.waitUntilReady();
    const store = new TokenBucketStore(new RedisTokenBucketStore(connection));
    const take = () => store.take('k', STANDING);
    for (let n = 0; n < 3; n++) await take();
    proxy.silenceOpenConnections();
    const seen = [];
    for (let times = 0; times < 6; times++) seen.push([(await take()).isAdmitted, store.isDegraded]);
    expect(seen).toEqual([true, true, false, false, false, false].map((admitted, nth) => [admitted, nth >= 2]));
    expect(store.degradedDecisions).toBe(6);
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/^Redis is unreachable \(No response within 100 ms\)/)]]);
    // A probe finds the connection dead, and another one that the next connection is not.
    await waitUntil(async () => (await take()).isAdmitted);
    expect([store.isDegraded, warn.mock.lastCall]).toEqual([false, ['Redis is reachable again']]);
    expect(await take()).toMatchObject({ isAdmitted: true, remaining: 0 });
    jest.restoreAllMocks();
    await connection.close();
    proxy.close();
  });
});

describe('the limits of a key', () => {
  it.each([
    [1, 0.001],
    [9_000_000, 1_000_000],
    [20, 1.005],
  ])('may be %d tokens at %d a second', (maxTokens, refillRate) =>
    expect(limitsError({ maxTokens, refillRate })).toBeUndefined(),
  );

  it.each([
    ['--max-tokens', 0, 1],
    ['--max-tokens', 9_000_001, 1],
    ['--max-tokens', 1.5, 1],
    ['--refill-rate', 1, 0],
    ['--refill-rate', 1, 1_000_000.001],
    ['--refill-rate', 1, 0.0625],
  ])('may not have such %s: %d tokens at %d a second', (name, maxTokens, refillRate) =>
    expect(limitsError({ maxTokens, refillRate })).toContain(`${name} must be`),
  );
});

describe('buckets in this process', () => {
  afterEach(() => void jest.restoreAllMocks());

  it.each([-3600, 3600])('go by a clock that nobody sets, when the time of day is set by %d s', async (seconds) => {
    const store = new TokenBucketStore();
    await takeAll(store, 'k', STANDING);
    const set = Date.now() + seconds * 1000;
    jest.spyOn(Date, 'now').mockReturnValue(set);
    const { isAdmitted, retryAfter, resetAt } = await store.take('k', STANDING);
    expect(isAdmitted).toBe(false);
    expect(retryAfter).toBeGreaterThan(990);
    expect(retryAfter).toBeLessThanOrEqual(1000);
    expect(Math.abs(resetAt - set / 1000 - 5000)).toBeLessThan(10);
  });

  it('holds no more than 100,000, and lets go of the one that was idle longest', async () => {
    const store = new TokenBucketStore(
      undefined,
      () => START,
      () => START,
    );
    const slow = { maxTokens: 1, refillRate: 0.001 };
    for (let i = 0; i < 100_000; i++) await store.take(String(i), slow);
    await store.take('0', slow);
    await store.take('one more', slow);
    expect(await store.take('0', slow)).toMatchObject({ isAdmitted: false });
    expect(await store.take('1', slow)).toMatchObject({ isAdmitted: true });
  });
});
