import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import type { Redis } from 'ioredis';

import { freePort } from '../../src/embedded-postgres/free-port';
import { CircuitBreaker } from '../../src/rate-limit/circuit-breaker';
import { InProcessTokenBucketStore } from '../../src/rate-limit/in-process-token-bucket.store';
import { closeRedis, createRedis, untilReady } from '../../src/redis/redis';
import { RedisTokenBucketStore } from '../../src/rate-limit/redis-token-bucket.store';
import { ResilientTokenBucketStore } from '../../src/rate-limit/resilient-token-bucket.store';
import { TAKE_TOKEN } from '../../src/rate-limit/take-token.lua';
import type { BucketLimits, TakeResult } from '../../src/rate-limit/token-bucket';
import type { TokenBucketStore } from '../../src/rate-limit/token-bucket.store';
import { until } from '../support/embedded-fixtures';
import { NO_REDIS, NO_SERVER, RedisServer, unless } from '../support/redis-server';

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

async function takeAll(store: TokenBucketStore, keyId: string, limits: BucketLimits): Promise<TakeResult> {
  let taken = await store.take(keyId, limits);
  while (taken.admitted) taken = await store.take(keyId, limits);
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
      admitted,
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
  /** whether to wait as told after a refusal */
  waits: fc.boolean(),
});

const stores = [
  {
    name: 'in process',
    missing: '',
    open: (clock?: () => number): TokenBucketStore => new InProcessTokenBucketStore(clock),
  },
  {
    name: `Redis${NO_REDIS}`,
    missing: NO_REDIS,
    open: (clock?: () => number) => new RedisTokenBucketStore(redis, clock),
  },
];

let server: RedisServer | undefined;
let redis: Redis;

beforeAll(async () => {
  if (NO_REDIS) return;
  if (!process.env.REDIS_URL) server = await RedisServer.start();
  redis = createRedis(process.env.REDIS_URL ?? server!.url);
  await untilReady(redis);
});

afterAll(async () => {
  if (redis) await closeRedis(redis);
  await server?.kill();
});

describe.each(stores)('token bucket, $name', ({ missing, open }) => {
  const test = missing ? it.skip : it;
  let clock: ReturnType<typeof fakeClock>;
  let store: TokenBucketStore;
  let key: string;

  beforeEach(() => {
    clock = fakeClock();
    store = open(clock.read);
    key = randomUUID();
  });

  test('starts full and counts down', async () => {
    const first = { admitted: true, remaining: 19, resetAt: START / SECOND + 1, retryAfter: 0 };
    expect(await store.take(key, DEFAULTS)).toEqual(first);
    expect(await store.take(key, DEFAULTS)).toEqual({ ...first, remaining: 18, resetAt: START / SECOND + 2 });
  });

  test('admits exactly maxTokens of 1,000 concurrent requests', async () => {
    const real = open();
    for (let round = 0; round < 5; round++) {
      const id = `${key}-${round}`;
      const limits = { maxTokens: 20, refillRate: 0.001 };
      const taken = await Promise.all(Array.from({ length: 1000 }, () => real.take(id, limits)));
      expect(taken.filter(({ admitted }) => admitted)).toHaveLength(20);
    }
  });

  test('keeps the buckets of two keys apart', async () => {
    await takeAll(store, key, DEFAULTS);
    expect(await store.take(`${key}-other`, DEFAULTS)).toMatchObject({ admitted: true, remaining: 19 });
    expect(await store.take(key, DEFAULTS)).toMatchObject({ admitted: false });
  });

  test.each([
    { maxTokens: 1, refillRate: 1, wait: SECOND, retryAfter: 1 },
    { maxTokens: 1, refillRate: 0.001, wait: 1000 * SECOND, retryAfter: 1000 },
    { maxTokens: 3, refillRate: 3, wait: 333_334, retryAfter: 1 },
    { maxTokens: 1, refillRate: 0.7, wait: 1_428_572, retryAfter: 2 },
    { maxTokens: 5, refillRate: 1_000_000, wait: 1, retryAfter: 1 },
  ])('refills to the microsecond: $maxTokens at $refillRate a second', async ({ wait, retryAfter, ...limits }) => {
    const full = { admitted: true, remaining: limits.maxTokens - 1 };
    expect(await store.take(key, limits)).toMatchObject(full);
    expect(await takeAll(store, key, limits)).toMatchObject({ admitted: false, remaining: 0, retryAfter });
    clock.now += wait - 1;
    expect(await store.take(key, limits)).toMatchObject({ admitted: false, remaining: 0, retryAfter: 1 });
    clock.now += 1;
    expect(await store.take(key, limits)).toMatchObject({ admitted: true, remaining: 0, retryAfter: 0 });
  });

  test('is full at the second that it named, and not before', async () => {
    const { resetAt } = await takeAll(store, key, DEFAULTS);
    expect(resetAt).toBe(START / SECOND + 20);
    clock.now = resetAt * SECOND - 1;
    expect(await store.take(key, DEFAULTS)).toMatchObject({ remaining: 18 });
    clock.now += 2 * SECOND;
    expect(await store.take(key, DEFAULTS)).toMatchObject({ remaining: 19 });
  });

  test('is full at the microsecond that rounding up makes, and stays so when its limits rise', async () => {
    for (const [wait, expected] of [
      [1_428_572, { admitted: true, remaining: 4 }],
      [1_428_571, { admitted: false }],
    ] as const) {
      const id = `${key}-${wait}`;
      await takeAll(store, id, { maxTokens: 1, refillRate: 0.7 });
      clock.now += wait;
      expect(await store.take(id, { maxTokens: 5, refillRate: 0.7 })).toMatchObject(expected);
    }
  });

  test('refills to the maximum and no further, however long it is idle', async () => {
    const largest = { maxTokens: 9_000_000, refillRate: 1_000_000 };
    await store.take(key, largest);
    clock.now += 200 * YEAR;
    expect(await store.take(key, largest)).toMatchObject({ admitted: true, remaining: 8_999_999 });
  });

  test('stays exact over centuries at the lowest rate', async () => {
    const slowest = { maxTokens: 9_000_000, refillRate: 0.001 };
    await takeAll(store, key, { maxTokens: 1, refillRate: 0.001 });
    const { resetAt } = await store.take(key, slowest);
    expect(resetAt).toBe(START / SECOND + 9_000_000_000);
    clock.now += 100 * YEAR;
    expect(await store.take(key, slowest)).toMatchObject({ remaining: 100 * 31_536 - 1, resetAt: resetAt + 1000 });
  });

  test('counts in thousandths of a token that doubles cannot hold', async () => {
    const limits = { maxTokens: 9_000_000, refillRate: 1.001 };
    await takeAll(store, key, { maxTokens: 1, refillRate: 0.001 });
    await store.take(key, limits);
    clock.now += 1_000_000 * SECOND;
    expect(await store.take(key, limits)).toMatchObject({ remaining: 1_000_999 });
  });

  test('names the second of being full exactly, though in microseconds it is past 2^53', async () => {
    clock.now += 1;
    await takeAll(store, key, { maxTokens: 1, refillRate: 0.001 });
    const { resetAt } = await store.take(key, { maxTokens: 9_000_000, refillRate: 0.001 });
    expect(resetAt).toBe(START / SECOND + 9_000_000_000 + 1);
  });

  test('keeps tokens when limits rise, and fills up to the new maximum', async () => {
    await takeAll(store, key, { maxTokens: 2, refillRate: 1 });
    expect(await store.take(key, { maxTokens: 50, refillRate: 10 })).toMatchObject({ admitted: false, retryAfter: 1 });
    clock.now += SECOND;
    expect(await store.take(key, { maxTokens: 50, refillRate: 10 })).toMatchObject({ remaining: 9 });
    clock.now += 60 * SECOND;
    expect(await store.take(key, { maxTokens: 50, refillRate: 10 })).toMatchObject({ remaining: 49 });
  });

  test('cuts tokens when limits fall, and keeps a full bucket full when they change', async () => {
    await store.take(key, DEFAULTS);
    expect(await store.take(key, { maxTokens: 5, refillRate: 1 })).toMatchObject({ admitted: true, remaining: 4 });
    clock.now += SECOND;
    expect(await store.take(key, DEFAULTS)).toMatchObject({ remaining: 19 });
    await takeAll(store, key, DEFAULTS);
    expect(await store.take(key, { maxTokens: 1, refillRate: 0.001 })).toMatchObject({ retryAfter: 1000 });
  });

  test('credits time at the rate that was in force', async () => {
    await takeAll(store, key, { maxTokens: 20, refillRate: 2 });
    clock.now += 3 * SECOND;
    expect(await store.take(key, { maxTokens: 20, refillRate: 0.001 })).toMatchObject({ remaining: 5 });
  });

  test('credits nothing when the clock goes back, and nothing twice afterwards', async () => {
    await takeAll(store, key, DEFAULTS);
    clock.now += 2 * SECOND;
    await store.take(key, DEFAULTS);
    clock.now -= 10 * SECOND;
    expect(await store.take(key, DEFAULTS)).toMatchObject({ admitted: true, remaining: 0 });
    expect(await store.take(key, DEFAULTS)).toMatchObject({ admitted: false, retryAfter: 11 });
    clock.now += 10 * SECOND;
    expect(await store.take(key, DEFAULTS)).toMatchObject({ admitted: false, retryAfter: 1 });
    clock.now += SECOND;
    expect(await store.take(key, DEFAULTS)).toMatchObject({ admitted: true, remaining: 0 });
  });

  test('agrees with exact arithmetic, and admits whoever waited as told', async () => {
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
              if (taken.admitted || !step.waits) continue;
              clock.now += taken.retryAfter * SECOND;
              expect(await store.take(id, limits)).toMatchObject({ admitted: true });
              exact.take(limits, clock.now);
            }
          }
        },
      ),
      { seed: 1, numRuns: RANDOM_RUNS },
    );
  });
});

unless(NO_REDIS)(`token bucket, Redis's own part${NO_REDIS}`, () => {
  let clock: ReturnType<typeof fakeClock>;
  let store: RedisTokenBucketStore;
  let id: string;
  let key: string;

  beforeEach(() => {
    clock = fakeClock();
    store = new RedisTokenBucketStore(redis, clock.read);
    id = randomUUID();
    key = `rl:v1:${id}`;
  });

  it('stores one hash of plain integers under the id of the key', async () => {
    await store.take(id, { maxTokens: 9_000_000, refillRate: 1_000_000 });
    expect(await redis.hgetall(key)).toEqual({
      tokens: '8999999000000000',
      time: String(START),
      max: '9000000000000000',
      rate: '1000000000',
    });
  });

  it('writes nothing for a refusal, unless limits changed', async () => {
    await takeAll(store, id, DEFAULTS);
    const before = await redis.hgetall(key);
    clock.now += 500_000;
    expect(await store.take(id, DEFAULTS)).toMatchObject({ admitted: false });
    expect(await redis.hgetall(key)).toEqual(before);
    await store.take(id, { maxTokens: 20, refillRate: 0.5 });
    expect(await redis.hgetall(key)).toMatchObject({ tokens: '500000000', time: String(clock.now), rate: '500' });
  });

  it('lets a bucket expire a second after it is full, which changes no answer', async () => {
    await store.take(id, { maxTokens: 1, refillRate: 0.001 });
    expect(await redis.pttl(key)).toBeGreaterThan(1_000_000);
    expect(await redis.pttl(key)).toBeLessThanOrEqual(1_001_000);
    await redis.pexpire(key, 1);
    await until(async () => !(await redis.exists(key)));
    expect(await store.take(id, { maxTokens: 1, refillRate: 0.001 })).toMatchObject({ admitted: true, remaining: 0 });
  });

  it("goes by Redis's clock", async () => {
    const { now } = await new RedisTokenBucketStore(redis).takeAndReport(id, DEFAULTS);
    const [seconds] = await redis.time();
    expect(Math.abs(Number(seconds) - now / SECOND)).toBeLessThan(2);
  });

  it('survives SCRIPT FLUSH without a token lost or won', async () => {
    await store.take(id, DEFAULTS);
    await redis.script('FLUSH');
    expect(await store.take(id, DEFAULTS)).toMatchObject({ admitted: true, remaining: 18 });
  });

  it('sends takes of one turn of the event loop together', async () => {
    const writes = jest.spyOn(redis.stream, '_writev' as never);
    await Promise.all([store.take(id, DEFAULTS), store.take(id, DEFAULTS), store.take(randomUUID(), DEFAULTS)]);
    expect(writes).toHaveBeenCalledTimes(1);
    writes.mockRestore();
  });

  it('shares buckets with another version of the script', async () => {
    await store.take(id, DEFAULTS);
    await redis.eval(`-- another release\n${TAKE_TOKEN}`, 1, key, 20e9, 1000, clock.now);
    expect(await store.take(id, DEFAULTS)).toMatchObject({ remaining: 17 });
  });
});

unless(NO_SERVER)(`token bucket, Redis away${NO_SERVER}`, () => {
  let own: RedisServer;
  let client: Redis;
  let probes: { now: number };
  let store: ResilientTokenBucketStore;
  let warn: jest.SpyInstance;
  let log: jest.SpyInstance;
  let id: string;

  beforeEach(async () => {
    warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    log = jest.spyOn(Logger.prototype, 'log').mockImplementation();
    own = await RedisServer.start();
    client = createRedis(own.url);
    await untilReady(client);
    const clock = (probes = { now: 0 });
    const breaker = new CircuitBreaker(() => clock.now);
    store = new ResilientTokenBucketStore(new RedisTokenBucketStore(client), new InProcessTokenBucketStore(), breaker);
    id = randomUUID();
  });

  afterEach(async () => {
    await closeRedis(client);
    await own.kill();
    jest.restoreAllMocks();
  });

  /** One probe after another until Redis answers. Each is made with a key of its own. */
  const recovered = () =>
    until(async () => {
      probes.now += 1000;
      await store.take(randomUUID(), STANDING);
      return !store.degraded;
    });

  /**
   * A decision; undefined when it takes 250 ms. They are counted by a timer: in a process that stood still past that, what
   * was due before comes before.
   */
  const decide = (): Promise<TakeResult | void> =>
    Promise.race([store.take(id, STANDING), pause(250, undefined, { ref: false }).then(() => nextTurn())]);

  /** Two of five tokens are left in Redis; then it goes. Every decision stays below 250 ms. */
  async function expectNoFreshBurst(leave: () => Promise<unknown> | void): Promise<void> {
    for (let i = 0; i < 3; i++) await store.take(id, STANDING);
    await leave();
    const answers = [];
    for (let i = 0; i < 6; i++) answers.push((await decide())?.admitted);
    expect(answers).toEqual([true, true, false, false, false, false]);
    expect(store.degraded).toBe(true);
    expect(store.degradedDecisions).toBe(6);
    expect(warn).toHaveBeenCalledTimes(1);
  }

  it('is killed: decisions go on from its last state, and its return is noticed', async () => {
    await expectNoFreshBurst(() => own.kill());
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^Redis does not answer/));
    await own.startAgain();
    await recovered();
    expect(log).toHaveBeenCalledTimes(1);
    // it came back empty, and its state rules
    expect(await store.take(id, STANDING)).toMatchObject({ admitted: true, remaining: 4 });
  });

  it('is stopped: decisions go on from its last state, and its state rules afterwards', async () => {
    await expectNoFreshBurst(() => own.signal('SIGSTOP'));
    own.signal('SIGCONT');
    await recovered();
    // it got to the three takes that it had not answered: two tokens and a refusal
    expect(await store.take(id, STANDING)).toMatchObject({ admitted: false });
    expect(await client.hget(`rl:v1:${id}`, 'tokens')).toMatch(/^\d{1,9}$/);
  });

  it('stays silent: the probe renews the connection, and still nobody waits', async () => {
    const closed = once(client, 'close');
    await expectNoFreshBurst(() => own.signal('SIGSTOP'));
    probes.now += 1000;
    expect(await decide()).toMatchObject({ admitted: false });
    await closed;
    own.signal('SIGCONT');
    await recovered();
    expect(log).toHaveBeenCalledTimes(1);
  });

  it('is stopped when the server stops: the connection is closed all the same', async () => {
    own.signal('SIGSTOP');
    const begun = performance.now();
    const ended = once(client, 'end');
    await closeRedis(client);
    await ended;
    expect(performance.now() - begun).toBeLessThan(1000);
  });

  it('is away from the start: a bucket is full, once', async () => {
    await own.kill();
    const answers = [];
    for (let i = 0; i < 7; i++) answers.push((await store.take(id, STANDING)).admitted);
    expect(answers).toEqual([true, true, true, true, true, false, false]);
  });

  it('is full (OOM)', async () => {
    await expectNoFreshBurst(() => client.config('SET', 'maxmemory', '1'));
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('OOM'));
    await until(() => client.status === 'ready');
    await client.config('SET', 'maxmemory', '0');
    await recovered();
    expect(await store.take(id, STANDING)).toMatchObject({ admitted: true, remaining: 1 });
  });

  it('is a replica (READONLY) after a failover, and is not for ever', async () => {
    const nobody = await freePort();
    await expectNoFreshBurst(() => client.replicaof('127.0.0.1', nobody));
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('READONLY'));
    const renewed = once(client, 'ready');
    probes.now += 1000;
    await store.take(id, { ...STANDING, refillRate: 0.002 });
    await renewed;
    await client.replicaof('NO', 'ONE');
    await recovered();
    expect(await store.take(id, STANDING)).toMatchObject({ admitted: true, remaining: 1 });
  });

  it('is flushed: buckets are full again and nothing fails', async () => {
    await takeAll(store, id, STANDING);
    await client.flushall();
    expect(await store.take(id, STANDING)).toMatchObject({ admitted: true, remaining: 4 });
    expect(store.degradedDecisions).toBe(0);
  });

  it('stops under 500 concurrent requests: all are answered in time, and one line is logged', async () => {
    own.signal('SIGSTOP');
    const begun = performance.now();
    const answers = await Promise.all(Array.from({ length: 500 }, () => store.take(id, STANDING)));
    expect(performance.now() - begun).toBeLessThan(1000);
    expect(answers.filter(({ admitted }) => admitted)).toHaveLength(5);
    expect(warn).toHaveBeenCalledTimes(1);
  });
});

describe('token bucket, a Redis that answers badly', () => {
  let fake: Server;
  let client: Redis;
  let takes: number;
  /** what the fake does with a take: an error to reply, or undefined to hang up */
  let reply: string | undefined;
  /** tells a client that waits for it that the fake is ready */
  let ready: (() => void) | undefined;

  beforeEach(async () => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    takes = 0;
    reply = ready = undefined;
    fake = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        for (const [, command] of String(data).matchAll(/\$\d+\r\n(info|client|evalsha)\r\n/gi)) {
          if (command === 'info') ready = () => socket.write('$9\r\nloading:0\r\n');
          if (command === 'client') socket.write('+OK\r\n');
          if (command !== 'evalsha') continue;
          takes += 1;
          if (reply) socket.write(`-${reply}\r\n`);
          else socket.destroy();
        }
      });
    }).listen(0, '127.0.0.1');
    await once(fake, 'listening');
    client = createRedis(`redis://127.0.0.1:${(fake.address() as AddressInfo).port}`);
    await until(() => ready !== undefined);
  });

  const letReady = async () => {
    ready?.();
    await untilReady(client);
  };

  afterEach(async () => {
    await closeRedis(client);
    fake.close();
    await once(fake, 'close');
    jest.restoreAllMocks();
  });

  it('asks once when the reply is lost, and answers by itself', async () => {
    await letReady();
    const store = new ResilientTokenBucketStore(new RedisTokenBucketStore(client));
    expect(await store.take('a', STANDING)).toMatchObject({ admitted: true, remaining: 4 });
    ready = undefined;
    await until(() => ready !== undefined);
    await letReady();
    expect(await store.take('a', STANDING)).toMatchObject({ admitted: true, remaining: 3 });
    expect(takes).toBe(2);
  });

  it('is asked nothing late: what it could not take while it started was decided then', async () => {
    const store = new ResilientTokenBucketStore(new RedisTokenBucketStore(client));
    expect(await store.take('a', STANDING)).toMatchObject({ admitted: true, remaining: 4 });
    await letReady();
    reply = 'ERR unknown';
    expect(await store.take('a', STANDING)).toMatchObject({ admitted: true, remaining: 3 });
    expect(takes).toBe(1);
  });

  it.each(['LOADING Redis is loading the dataset in memory', 'BUSY Redis is busy running a script', 'ERR unknown'])(
    'answers by itself on %s',
    async (error) => {
      reply = error;
      await letReady();
      const store = new ResilientTokenBucketStore(new RedisTokenBucketStore(client));
      const taken = await takeAll(store, 'a', STANDING);
      expect(taken).toMatchObject({ admitted: false, retryAfter: 1000 });
      expect(store).toMatchObject({ degraded: true, degradedDecisions: 6 });
      expect(takes).toBe(3);
    },
  );
});
