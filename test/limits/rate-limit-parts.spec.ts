import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { Controller, Get, Global, type INestApplication, Logger, Module, NotFoundException } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { Test, type TestingModule } from '@nestjs/testing';
import type { NextFunction, Request, Response } from 'express';
import type { Redis } from 'ioredis';
import request from 'supertest';

import { Config } from '../../src/config';
import { CircuitBreaker } from '../../src/rate-limit/circuit-breaker';
import { InProcessTokenBucketStore } from '../../src/rate-limit/in-process-token-bucket.store';
import { RateLimitModule } from '../../src/rate-limit/rate-limit.module';
import { REDIS, REDIS_DEADLINE_MS, withDeadline } from '../../src/redis/redis';
import { RedisModule } from '../../src/redis/redis.module';
import type { RedisTokenBucketStore } from '../../src/rate-limit/redis-token-bucket.store';
import { ResilientTokenBucketStore } from '../../src/rate-limit/resilient-token-bucket.store';
import { limitsFault } from '../../src/rate-limit/token-bucket';
import { TokenBucketInterceptor } from '../../src/rate-limit/token-bucket.interceptor';
import { TokenBucketStore } from '../../src/rate-limit/token-bucket.store';

const SECOND = 1_000_000;
const START = 1_772_323_200 * SECOND;

describe('limits of a key', () => {
  it.each([
    { maxTokens: 1, refillRate: 0.001 },
    { maxTokens: 20, refillRate: 1 },
    { maxTokens: 9_000_000, refillRate: 1_000_000 },
    { maxTokens: 7, refillRate: 1.005 },
    { maxTokens: 7, refillRate: 999_999.999 },
  ])('allows $maxTokens at $refillRate', (limits) => {
    expect(limitsFault(limits)).toBeUndefined();
  });

  it.each([0, -1, 1.5, 9_000_001, NaN, Infinity])('refuses maxTokens %p', (maxTokens) => {
    expect(limitsFault({ maxTokens, refillRate: 1 })).toMatch(/^maxTokens must be an integer from 1 to 9000000$/);
  });

  it.each([0, -1, 0.0005, 0.0011, 1.0005, 1_000_000.001, NaN, Infinity])('refuses refillRate %p', (refillRate) => {
    expect(limitsFault({ maxTokens: 20, refillRate })).toMatch(/^refillRate must be from 0.001 to 1000000 with/);
  });
});

describe('buckets in this process', () => {
  const limits = { maxTokens: 2, refillRate: 1 };
  let now: number;
  let store: InProcessTokenBucketStore;

  beforeEach(() => {
    now = START;
    store = new InProcessTokenBucketStore(() => now);
  });

  it('forgets buckets that are full again, and only those', async () => {
    for (let i = 0; i < 1000; i++) await store.take(`quick-${i}`, limits);
    await store.take('slow', { maxTokens: 1, refillRate: 0.001 });
    expect(store.size).toBe(1001);
    now += 2 * SECOND;
    for (let i = 0; i < 1100; i++) await store.take(`busy-${i % 2}`, { maxTokens: 2000, refillRate: 1 });
    expect(store.size).toBe(3);
    expect(await store.take('slow', { maxTokens: 1, refillRate: 0.001 })).toMatchObject({ admitted: false });
  });

  it('holds no more than 100,000, and lets go of the one that was idle longest', async () => {
    const slow = { maxTokens: 1, refillRate: 0.001 };
    for (let i = 0; i < 100_000; i++) await store.take(String(i), slow);
    await store.take('0', slow);
    await store.take('one more', slow);
    expect(store.size).toBe(100_000);
    expect(await store.take('0', slow)).toMatchObject({ admitted: false });
    expect(await store.take('1', slow)).toMatchObject({ admitted: true });
  });

  it('goes on from what another store reported, though its clock is an hour ahead', async () => {
    const theirs = START + 3600 * SECOND;
    store.remember('a', { tokens: 500_000_000, time: theirs - 100_000, max: 2e9, rate: 1000 }, theirs);
    now += 399_999;
    expect(await store.take('a', limits)).toMatchObject({ admitted: false, retryAfter: 1 });
    now += 1;
    expect(await store.take('a', limits)).toMatchObject({ admitted: true, remaining: 0 });
  });
});

describe('circuit breaker', () => {
  it('opens after 3 errors in a row, probes once a second, closes on success', () => {
    let now = 0;
    const breaker = new CircuitBreaker(() => now);
    breaker.failed();
    breaker.failed();
    breaker.succeeded();
    expect([breaker.failed(), breaker.failed(), breaker.isOpen]).toEqual([false, false, false]);
    expect([breaker.failed(), breaker.isOpen, breaker.allows()]).toEqual([true, true, false]);
    now = 999;
    expect(breaker.allows()).toBe(false);
    now = 1000;
    expect([breaker.allows(), breaker.allows()]).toEqual([true, false]);
    expect(breaker.failed()).toBe(false);
    now = 2000;
    expect([breaker.allows(), breaker.succeeded(), breaker.isOpen]).toEqual([true, true, false]);
    expect([breaker.allows(), breaker.allows(), breaker.succeeded()]).toEqual([true, true, false]);
  });
});

describe('a Redis that comes and goes', () => {
  afterEach(() => jest.restoreAllMocks());

  it('is said to, with the decisions of this absence; the connection is renewed by probes alone', async () => {
    const [warn, log] = (['warn', 'log'] as const).map((level) =>
      jest.spyOn(Logger.prototype, level).mockImplementation(),
    );
    let [now, isAway, renewed] = [0, false, 0];
    const full = { tokens: 1e9, time: START, max: 2e9, rate: 1000 };
    const answer = { state: full, now: START, result: { admitted: true, remaining: 1, resetAt: 0, retryAfter: 0 } };
    const redis = {
      takeAndReport: () => (isAway ? Promise.reject(new Error('gone')) : Promise.resolve(answer)),
      reconnect: () => renewed++,
    } as unknown as RedisTokenBucketStore;
    const store = new ResilientTokenBucketStore(redis, undefined, new CircuitBreaker(() => now));
    const take = () => store.take('a', { maxTokens: 2, refillRate: 1 });
    for (const decisions of [4, 6]) {
      isAway = true;
      for (let n = 0; n < decisions; n++) await take();
      isAway = false;
      now += 1000;
      await take();
    }
    expect(warn?.mock.calls.flat()).toEqual(
      Array(2).fill('Redis does not answer (gone); each process counts tokens by itself'),
    );
    expect(log?.mock.calls.flat()).toEqual([2, 4].map((n) => `Redis is back; ${n} requests were decided without it`));
    expect([store.degradedDecisions, renewed]).toEqual([10, 0]);
    isAway = true;
    for (let n = 0; n < 3; n++) await take();
    now += 1000;
    await take();
    expect(renewed).toBe(1);
  });
});

describe('deadline', () => {
  it('ends a wait', async () => {
    await expect(withDeadline(new Promise(() => undefined), 5)).rejects.toThrow('No answer within 5 ms');
  });

  it('leaves no timer behind', async () => {
    jest.useFakeTimers();
    try {
      await withDeadline(Promise.resolve(), REDIS_DEADLINE_MS);
      await Promise.resolve();
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it('does not blame the other side for the time in which this process was busy', async () => {
    const echo = spawn('cat');
    try {
      echo.stdin.write('ready');
      await once(echo.stdout, 'data');
      const answer = withDeadline(once(echo.stdout, 'data'), 20);
      await nextTurn(); // from which the time counts
      echo.stdin.write('?');
      const begun = Date.now();
      while (Date.now() - begun < 500);
      expect(String(await answer)).toBe('?');
    } finally {
      echo.stdin.end();
      await once(echo, 'close');
    }
  });

  it('waits on while the other side answers others, though not for ever', async () => {
    jest.useFakeTimers();
    try {
      let heardAt = -Infinity;
      const outcome = withDeadline(new Promise(() => undefined), REDIS_DEADLINE_MS, () => heardAt).catch(
        (e: Error) => e.message,
      );
      let settled = false;
      void outcome.then(() => (settled = true));
      for (const _ of Array(9)) {
        await jest.advanceTimersByTimeAsync(90);
        heardAt = performance.now();
      }
      expect(settled).toBe(false);
      await jest.advanceTimersByTimeAsync(98);
      expect(settled).toBe(false);
      await jest.advanceTimersByTimeAsync(10);
      expect(await outcome).toBe('No answer within 100 ms');

      const busy = withDeadline(new Promise(() => undefined), REDIS_DEADLINE_MS, () => performance.now()).catch(
        (e: Error) => e.message,
      );
      await jest.advanceTimersByTimeAsync(1_200);
      expect(await busy).toBe('No answer within 100 ms');
    } finally {
      jest.useRealTimers();
    }
  });

  it('counts from the end of the turn, when what was asked is sent', async () => {
    const answer = withDeadline(new Promise((resolve) => setImmediate(() => setTimeout(resolve, 20, 'answer'))), 50);
    const busy = performance.now() + 100;
    while (performance.now() < busy);
    expect(await answer).toBe('answer');
  });
});

@Controller()
class TinyController {
  @Get('found')
  found(): string {
    return 'found';
  }

  @Get('missing')
  missing(): never {
    throw new NotFoundException();
  }
}

describe('interceptor', () => {
  let app: INestApplication;
  let now: number;

  beforeEach(async () => {
    now = START;
    const store = new InProcessTokenBucketStore(() => now);
    const module = Test.createTestingModule({
      controllers: [TinyController],
      providers: [
        { provide: TokenBucketStore, useValue: store },
        { provide: APP_INTERCEPTOR, useClass: TokenBucketInterceptor },
      ],
    });
    app = (await module.compile()).createNestApplication({ logger: false });
    app.use((req: Request, _: Response, next: NextFunction) => {
      const keyId = req.headers['test-key'];
      if (keyId) req.caller = { organizationId: 1, keyId: String(keyId), maxTokens: 2, refillRate: 0.5 };
      next();
    });
    await app.init();
  });

  afterEach(() => app.close());

  const get = (path: string) => request(app.getHttpServer()).get(path).set('test-key', 'a');

  it('charges one token a request, errors included, and tells what is left', async () => {
    const first = await get('/found').expect(200);
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': String(START / SECOND + 2),
    });
    const second = await get('/missing').expect(404);
    expect(second.headers).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '0' });
    expect(second.headers).not.toHaveProperty('retry-after');
  });

  it('refuses with 429 and the seconds to wait, which suffice', async () => {
    await get('/found');
    await get('/found');
    const refused = await get('/found').expect(429);
    expect(refused.body).toMatchObject({ message: 'Too Many Requests' });
    expect(refused.headers).toMatchObject({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(START / SECOND + 4),
      'retry-after': '2',
    });
    now += 2 * SECOND;
    await get('/found').expect(200);
  });

  it('lets requests without a caller pass', async () => {
    const server = app.getHttpServer();
    for (let i = 0; i < 3; i++) {
      const response = await request(server).get('/found').expect(200);
      expect(response.headers).not.toHaveProperty('x-ratelimit-limit');
    }
  });
});

describe('module', () => {
  let module: TestingModule;

  const start = async (config: Partial<Config>) => {
    @Global()
    @Module({ providers: [{ provide: Config, useValue: new Config(config) }], exports: [Config] })
    class TestConfigModule {}
    module = await Test.createTestingModule({ imports: [TestConfigModule, RateLimitModule, RedisModule] }).compile();
    await module.init();
  };

  afterEach(async () => {
    await module.close();
    jest.restoreAllMocks();
  });

  it('keeps buckets in this process when there is no Redis', async () => {
    await start({});
    expect(module.get(TokenBucketStore)).toBeInstanceOf(InProcessTokenBucketStore);
    expect(module.get(REDIS)).toBeUndefined();
  });

  it('starts, answers and stops without a Redis that it was promised', async () => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as AddressInfo;
    probe.close();
    await once(probe, 'close');

    await start({ redisUrl: `redis://127.0.0.1:${port}` });
    const store = module.get(TokenBucketStore);
    expect(store).toBeInstanceOf(ResilientTokenBucketStore);
    for (let i = 0; i < 5; i++) await store.take('a', { maxTokens: 20, refillRate: 1 });
    expect(store).toMatchObject({ degraded: true, degradedDecisions: 5 });
    expect(module.get<Redis>(REDIS).listenerCount('error')).toBe(1); // else each attempt to reconnect is printed
  });
});
