import { Logger } from '@nestjs/common';

import { CircuitBreaker } from './circuit-breaker';
import { InProcessTokenBucketStore } from './in-process-token-bucket.store';
import { REDIS_DEADLINE_MS, withDeadline } from '../redis/redis';
import type { RedisTokenBucketStore } from './redis-token-bucket.store';
import type { BucketLimits, TakeResult } from './token-bucket';
import { TokenBucketStore } from './token-bucket.store';

/**
 * Redis while it answers, this process while it does not. A limit is there to keep the service up, so its own failure
 * must not take the service down: `take` never throws, and waits for a silent Redis 100 ms at most, for one that answers
 * others a second. Meanwhile each process goes on from the last state that Redis gave it, so an outage hands out no fresh
 * burst, but n processes may admit n times the refill. When Redis is back its state rules.
 */
export class ResilientTokenBucketStore extends TokenBucketStore {
  private readonly logger = new Logger('RateLimit');
  private decisions = 0;
  private atOpening = 0;

  constructor(
    private readonly redis: RedisTokenBucketStore,
    private readonly inProcess = new InProcessTokenBucketStore(),
    private readonly breaker = new CircuitBreaker(),
  ) {
    super();
  }

  override get degraded(): boolean {
    return this.breaker.isOpen;
  }

  override get degradedDecisions(): number {
    return this.decisions;
  }

  override async take(keyId: string, limits: BucketLimits): Promise<TakeResult> {
    const isProbe = this.breaker.isOpen;
    if (this.breaker.allows()) {
      try {
        const taking = this.redis.takeAndReport(keyId, limits);
        const { result, state, now } = await withDeadline(taking, REDIS_DEADLINE_MS, () => this.redis.heardAt);
        this.inProcess.remember(keyId, state, now);
        this.succeeded();
        return result;
      } catch (error) {
        this.failed(error, isProbe);
      }
    }
    this.decisions += 1;
    return this.inProcess.take(keyId, limits);
  }

  private succeeded(): void {
    if (!this.breaker.succeeded()) return;
    this.logger.log(`Redis is back; ${this.decisions - this.atOpening} requests were decided without it`);
  }

  /** The message only: the error itself carries the command. */
  private failed(error: unknown, isProbe: boolean): void {
    // A peer that vanished, or is a replica since a failover, keeps its old connection for minutes.
    if (isProbe) this.redis.reconnect();
    if (!this.breaker.failed()) return;
    this.atOpening = this.decisions;
    const { message } = this.redis.failure ?? (error as Error);
    this.logger.warn(`Redis does not answer (${message}); each process counts tokens by itself`);
  }
}
