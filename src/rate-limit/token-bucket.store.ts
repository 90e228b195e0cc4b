import { Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { RedisTokenBucketStore } from './redis-token-bucket.store';
import { type BucketLimits, type BucketState, takeToken, type TakeResult } from './token-bucket';

/** About 20 MB. Of more keys than this, those used longest ago have a full bucket again. */
const MAX_BUCKETS = 100_000;

/** In a row; then Redis counts as away, and is asked once a second. */
const MAX_ERRORS = 3;
const PROBE_INTERVAL_MS = 1_000;

/**
 * The buckets of all keys: in Redis while it answers, in this process while it does not or where there is none. A limit is
 * there to keep the service up, so its own failure must not take the service down: `take` never throws, and waits for a
 * silent Redis 100 ms at most, for one that answers others a second. Meanwhile each process goes on from the last state
 * that Redis gave it, so an outage hands out no fresh burst, but n processes may admit n times the refill. When Redis is
 * back its state rules.
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
  /** The timer that runs while an unreachable Redis is not tried. */
  private probePause?: NodeJS.Timeout;

  /** @param clock unix time in microseconds, an integer */
  constructor(
    private readonly redis?: RedisTokenBucketStore,
    private readonly clock = () => Date.now() * 1000,
  ) {}

  /**
   * Takes one token from a key's bucket. An unknown key has a full one.
   *
   * @param keyId the id of the API key, never the key
   */
  async take(keyId: string, limits: BucketLimits): Promise<TakeResult> {
    if (this.redis) {
      const result =
        this.isDegraded && this.probePause ? undefined : await this.takeFromRedis(this.redis, keyId, limits);
      if (result) return result;
      this.degradedDecisions += 1;
    }
    const { state, result } = takeToken(this.buckets.get(keyId), limits, this.clock());
    this.buckets.set(keyId, state);
    return result;
  }

  /** Asks Redis before the first request does: that it is away is in the log, and in the metrics, from the start. */
  async checkRedis(): Promise<void> {
    for (let attempt = 1; this.redis && attempt <= MAX_ERRORS; attempt++) {
      if (await this.takeFromRedis(this.redis, 'start', { maxTokens: 1, refillRate: 1 })) return;
    }
  }

  /** @returns undefined when Redis does not answer */
  private async takeFromRedis(
    redis: RedisTokenBucketStore,
    keyId: string,
    limits: BucketLimits,
  ): Promise<TakeResult | undefined> {
    const { connection } = redis;
    const isProbe = this.isDegraded;
    if (isProbe) this.pauseProbes();
    try {
      const { result, state, now } = await connection.withDeadline(redis.take(keyId, limits));
      // The two clocks may differ; without the difference a client would gain it in tokens, or wait for it.
      this.buckets.set(keyId, { ...state, time: state.time + this.clock() - now });
      this.errors = 0;
      if (this.isDegraded) this.logger.warn('Redis is reachable again');
      this.isDegraded = false;
      return result;
    } catch (error) {
      // A peer that vanished, or is a replica since a failover, keeps its old connection for minutes.
      if (isProbe && connection.status === 'ready') connection.disconnect(true);
      this.errors += 1;
      if (!this.isDegraded && this.errors >= MAX_ERRORS) {
        this.isDegraded = true;
        this.pauseProbes();
        // The message only: the error itself carries the command.
        const { message } = connection.lastError ?? (error as Error);
        this.logger.warn(`Redis is unreachable (${message}); each process now enforces rate limits on its own`);
      }
      return undefined;
    }
  }

  private pauseProbes(): void {
    clearTimeout(this.probePause);
    this.probePause = setTimeout(() => (this.probePause = undefined), PROBE_INTERVAL_MS).unref();
  }
}
