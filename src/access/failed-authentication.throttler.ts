import { hash } from 'node:crypto';
import { type ExecutionContext, HttpException, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerLimitDetail, ThrottlerModule, type ThrottlerStorage } from '@nestjs/throttler';
import type { Response } from 'express';
import { LRUCache } from 'lru-cache';
import { Config } from '../config';
import { BUCKET_HEADERS } from '../http/rate-limit/token-bucket.interceptor';

const WINDOW_MS = 60_000;

/**
 * Slows down an address (a /64 for IPv6) that keeps failing to authenticate. ApiKeyGuard consults it only after a failure,
 * so that one bad client cannot lock out others that share its address.
 */
@Injectable()
export class FailedAuthenticationThrottler extends ThrottlerGuard {
  protected override throwThrottlingException(context: ExecutionContext, detail: ThrottlerLimitDetail): Promise<void> {
    const response = context.switchToHttp().getResponse<Response>();
    const waitSeconds = Math.max(1, detail.timeToBlockExpire);
    const [limit, remaining, reset] = BUCKET_HEADERS;
    response.setHeader(limit, detail.limit);
    response.setHeader(remaining, 0);
    response.setHeader(reset, Math.ceil(Date.now() / 1000) + waitSeconds);
    response.setHeader('Retry-After', waitSeconds);
    throw new HttpException('Too Many Requests', 429);
  }
}

const MAX_ADDRESSES = 10_000;

/**
 * Counts failures in this process. @nestjs/throttler's own storage is bounded only by time: it keeps every address for at
 * least a minute, and the process runs out of memory at a million addresses, which a single IPv6 /44 provides.
 */
export class BoundedThrottlerStorage implements ThrottlerStorage {
  private readonly counts = new LRUCache<string, { failures: number }>({ max: MAX_ADDRESSES });

  /** @param ttl milliseconds; the returned times are seconds */
  increment(key: string, ttl: number, limit: number) {
    const count = this.counts.get(key) ?? { failures: 0 };
    const totalHits = ++count.failures;
    // The first failure starts a minute, and the first one over the limit starts another.
    if (totalHits === 1 || totalHits === limit + 1) this.counts.set(key, count, { ttl });
    const seconds = Math.ceil(this.counts.getRemainingTTL(key) / 1000);
    return Promise.resolve({
      totalHits,
      timeToExpire: seconds,
      isBlocked: totalHits > limit,
      timeToBlockExpire: seconds,
    });
  }
}

export const FailedAuthenticationModule = ThrottlerModule.forRootAsync({
  inject: [Config],
  useFactory: ({ authenticationFailures }: Config) => ({
    throttlers: [{ limit: authenticationFailures, ttl: WINDOW_MS }],
    setHeaders: false,
    // A proxy that passes on what a client sends may name an address of any length.
    generateKey: (_: ExecutionContext, address: string) => hash('sha256', address, 'base64'),
    storage: new BoundedThrottlerStorage(),
  }),
});
