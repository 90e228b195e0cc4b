import { Logger } from '@nestjs/common';
import { InProcessTokenBucketStore } from './in-process-token-bucket.store';
import type { RedisTokenBucketStore } from './redis-token-bucket.store';
import type { BucketLimits, TakeResult } from './token-bucket';

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
  /** whether Redis counts as away */
  degraded = false;
  /** decisions made because Redis did not answer, since the start */
  degradedDecisions = 0;

  private readonly logger = new Logger('RateLimit');
  private readonly inProcess = new InProcessTokenBucketStore();
  private errors = 0;
  private nextProbe = 0;

  /** @param clock milliseconds that never go back */
  constructor(
    private readonly redis?: RedisTokenBucketStore,
    private readonly clock: () => number = () => performance.now(),
  ) {}

  /**
   * Takes one token from a key's bucket. An unknown key has a full one.
   *
   * @param keyId the id of the API key, never the key
   */
  async take(keyId: string, limits: BucketLimits): Promise<TakeResult> {
    if (!this.redis) return this.inProcess.take(keyId, limits);
    const taken = await this.takeFromRedis(this.redis, keyId, limits);
    if (taken) return taken;
    this.degradedDecisions += 1;
    return this.inProcess.take(keyId, limits);
  }

  /** @returns undefined when Redis does not answer, or is not asked because it did not */
  private async takeFromRedis(
    redis: RedisTokenBucketStore,
    keyId: string,
    limits: BucketLimits,
  ): Promise<TakeResult | undefined> {
    const { connection } = redis;
    const isProbe = this.degraded;
    if (isProbe && this.clock() < this.nextProbe) return undefined;
    if (isProbe) this.nextProbe = this.clock() + PROBE_INTERVAL_MS;
    try {
      const { result, state, now } = await connection.withDeadline(redis.take(keyId, limits));
      this.inProcess.remember(keyId, state, now);
      this.errors = 0;
      if (this.degraded) this.logger.log('Redis is back');
      this.degraded = false;
      return result;
    } catch (error) {
      // A peer that vanished, or is a replica since a failover, keeps its old connection for minutes.
      if (isProbe && connection.status === 'ready') connection.disconnect(true);
      // The message only: the error itself carries the command.
      this.failed((connection.failure ?? (error as Error)).message);
      return undefined;
    }
  }

  private failed(message: string): void {
    this.errors += 1;
    if (this.degraded || this.errors < MAX_ERRORS) return;
    this.degraded = true;
    this.nextProbe = this.clock() + PROBE_INTERVAL_MS;
    this.logger.warn(`Redis does not answer (${message}); each process counts tokens by itself`);
  }
}
