import type { ThrottlerStorage } from '@nestjs/throttler';
import { LRUCache } from 'lru-cache';

const MAX_ADDRESSES = 10_000;

/**
 * Counts failures in this process. @nestjs/throttler's own storage has no limit: it keeps every address, and a timer for
 * every failure.
 */
export class InProcessThrottlerStorage implements ThrottlerStorage {
  private readonly counts = new LRUCache<string, { failures: number }>({ max: MAX_ADDRESSES });

  /** @param ttl milliseconds, as is `blockDuration`; the times that it returns are seconds */
  increment(key: string, ttl: number, limit: number, blockDuration: number) {
    const count = this.counts.get(key) ?? { failures: 0 };
    const totalHits = ++count.failures;
    const isBlocked = totalHits > limit;
    if (totalHits === 1) this.counts.set(key, count, { ttl });
    if (totalHits === limit + 1) this.counts.set(key, count, { ttl: blockDuration });
    const timeToExpire = Math.ceil(this.counts.getRemainingTTL(key) / 1000);
    return Promise.resolve({ totalHits, timeToExpire, isBlocked, timeToBlockExpire: isBlocked ? timeToExpire : 0 });
  }
}
