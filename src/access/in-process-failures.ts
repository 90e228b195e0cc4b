import type { ThrottlerStorage } from '@nestjs/throttler';
import { LRUCache } from 'lru-cache';

/** Whoever fails from more places than this at a time is not slowed by counting. */
const MOST_SOURCES = 10_000;

/**
 * Failures in this process's memory, counted as in Redis. The throttler's own storage has no bound: it keeps every source
 * for a minute, and every failure of it.
 */
export class InProcessFailures implements ThrottlerStorage {
  private readonly counts = new LRUCache<string, { failures: number }>({ max: MOST_SOURCES });

  /** @param ttl milliseconds, as is `blockDuration`; what is returned are seconds */
  increment(source: string, ttl: number, limit: number, blockDuration: number) {
    const count = this.counts.get(source) ?? { failures: 0 };
    const totalHits = ++count.failures;
    const isBlocked = totalHits > limit;
    if (totalHits === 1) this.counts.set(source, count, { ttl });
    if (totalHits === limit + 1) this.counts.set(source, count, { ttl: blockDuration });
    const timeToExpire = Math.ceil(this.counts.getRemainingTTL(source) / 1000);
    return Promise.resolve({ totalHits, timeToExpire, isBlocked, timeToBlockExpire: isBlocked ? timeToExpire : 0 });
  }
}
