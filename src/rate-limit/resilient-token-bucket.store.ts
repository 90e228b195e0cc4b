import { Logger } from '@nestjs/common';
import { REDIS_DEADLINE_MS, withDeadline } from '../redis/redis';
import { InProcessTokenBucketStore } from './in-process-token-bucket.store';
import type { RedisTokenBucketStore } from './redis-token-bucket.store';
import type { BucketLimits, TakeResult } from './token-bucket';
import { TokenBucketStore } from './token-bucket.store';

/** In a row; then Redis counts as away, and is asked once a second. */
const MAX_ERRORS = 3;
const PROBE_INTERVAL_MS = 1_000;

/**
 * Redis while it answers, this process while it does not. A limit is there to keep the service up, so its own failure
 * must not take the service down: `take` never throws, and waits for a silent Redis 100 ms at most, for one that answers
 * others a second. Meanwhile each process goes on from the last state that Redis gave it, so an outage hands out no fresh
 * burst, but n processes may admit n times the refill. When Redis is back its state rules.
 */
export class ResilientTokenBucketStore extends TokenBucketStore {
  private readonly logger = new Logger('RateLimit');
  private readonly inProcess = new InProcessTokenBucketStore();
  private errors = 0;
  private nextProbe = 0;
  private decisionsBefore = 0;

  /** @param clock milliseconds that never go back */
  constructor(
    private readonly redis: RedisTokenBucketStore,
    private readonly clock: () => number = () => performance.now(),
  ) {
    super();
  }

  override async take(keyId: string, limits: BucketLimits): Promise<TakeResult> {
    const isProbe = this.degraded;
    if (!isProbe || this.clock() >= this.nextProbe) {
      if (isProbe) this.nextProbe = this.clock() + PROBE_INTERVAL_MS;
      try {
        const taking = this.redis.takeAndReport(keyId, limits);
        const { connection } = this.redis;
        const { result, state, now } = await withDeadline(taking, REDIS_DEADLINE_MS, () => connection.heardAt);
        this.inProcess.remember(keyId, state, now);
        this.succeeded();
        return result;
      } catch (error) {
        this.failed(error, isProbe);
      }
    }
    this.degradedDecisions += 1;
    return this.inProcess.take(keyId, limits);
  }

  private succeeded(): void {
    this.errors = 0;
    if (!this.degraded) return;
    this.degraded = false;
    this.logger.log(`Redis is back; ${this.degradedDecisions - this.decisionsBefore} requests were decided without it`);
  }

  private failed(error: unknown, isProbe: boolean): void {
    const { connection } = this.redis;
    // A peer that vanished, or is a replica since a failover, keeps its old connection for minutes.
    if (isProbe && connection.status === 'ready') connection.disconnect(true);
    this.errors += 1;
    if (this.degraded || this.errors < MAX_ERRORS) return;
    this.degraded = true;
    this.nextProbe = this.clock() + PROBE_INTERVAL_MS;
    this.decisionsBefore = this.degradedDecisions;
    // The message only: the error itself carries the command.
    const { message } = connection.failure ?? (error as Error);
    this.logger.warn(`Redis does not answer (${message}); each process counts tokens by itself`);
  }
}
