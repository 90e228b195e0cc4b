import { Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { RedisTokenBucketStore } from './redis-token-bucket.store';
import { type BucketLimits, type BucketState, takeToken, type TakeResult, toTakeResult } from './token-bucket';

/** About 20 MB. With more keys than this, those unused for longest get a full bucket again. */
const MAX_BUCKETS = 100_000;

/** After this many errors in a row, Redis counts as unreachable and is probed once a second. */
const MAX_ERRORS = 3;
const PROBE_INTERVAL_MICROS = 1_000_000;

/**
 * The buckets of all keys: in Redis while it responds, in this process while it does not or where there is none. A limit
 * protects the service, so its own failure must not take the service down: `take` never throws. It waits 100 ms for a silent
 * Redis, and at most a second where Redis or this process is busy. Meanwhile each process continues from the last state that
 * Redis reported, so an outage grants no new burst, but n processes may admit n times the refill. When Redis is back, its
 * state applies again.
 */
export class TokenBucketStore {
  /** Whether Redis counts as unreachable. */
  isDegraded = false;
  /** The number of decisions since the start that were made because Redis did not respond. */
  degradedDecisions = 0;

  private readonly logger = new Logger('RateLimit');
  /** The buckets of this process. With Redis, they are as Redis last reported them. */
  private readonly buckets = new LRUCache<string, BucketState>({ max: MAX_BUCKETS });
  private errors = 0;
  /** When an unreachable Redis is probed again, by the clock. */
  private nextProbeAt = 0;

  /**
   * @param clock microseconds since any moment, an integer that never decreases, so that a time of day that is set changes no limit
   * @param unixClock Unix time in microseconds, an integer
   */
  constructor(
    private readonly redis?: RedisTokenBucketStore,
    private readonly clock = () => Math.floor(performance.now() * 1000),
    private readonly unixClock = () => Date.now() * 1000,
  ) {}

  /**
   * Takes one token from a key's bucket. An unknown key has a full bucket.
   *
   * @param keyId the ID of the API key, never the key
   */
  async take(keyId: string, limits: BucketLimits): Promise<TakeResult> {
    if (this.redis) {
      const isPaused = this.isDegraded && this.clock() < this.nextProbeAt;
      const result = isPaused ? undefined : await this.takeFromRedis(this.redis, keyId, limits);
      if (result) return result;
      this.degradedDecisions += 1;
    }
    const now = this.clock();
    const { state, isAdmitted } = takeToken(this.buckets.get(keyId), limits, now);
    this.buckets.set(keyId, state);
    const unixNow = this.unixClock();
    return toTakeResult({ ...state, time: state.time + unixNow - now }, isAdmitted, unixNow);
  }

  /** Checks Redis before the first request does, so that log and metrics report an unreachable one from the start. */
  async checkRedis(): Promise<void> {
    for (let attempt = 1; this.redis && attempt <= MAX_ERRORS; attempt++) {
      if (await this.takeFromRedis(this.redis, 'start', { maxTokens: 1, refillRate: 1 })) return;
    }
  }

  /** @returns undefined if Redis does not respond */
  private async takeFromRedis(
    redis: RedisTokenBucketStore,
    keyId: string,
    limits: BucketLimits,
  ): Promise<TakeResult | undefined> {
    const isProbe = this.isDegraded;
    // Other requests do not wait for the result of a probe.
    this.nextProbeAt = this.clock() + PROBE_INTERVAL_MICROS;
    try {
      const { result, state, now } = await redis.take(keyId, limits);
      // The two clocks may differ. Without this correction a client would gain the difference in tokens, or wait for it.
      this.buckets.set(keyId, { ...state, time: state.time + this.clock() - now });
      this.errors = 0;
      if (this.isDegraded) this.logger.warn('Redis is reachable again');
      this.isDegraded = false;
      return result;
    } catch (error) {
      if (isProbe) redis.connection.reconnect();
      this.errors += 1;
      if (!this.isDegraded && this.errors >= MAX_ERRORS) {
        this.isDegraded = true;
        // Only the message is logged, because the error itself carries the command.
        const { message } = redis.connection.lastError ?? (error as Error);
        this.logger.warn(`Redis is unreachable (${message}); each process now enforces rate limits on its own`);
      }
      return undefined;
    }
  }
}
