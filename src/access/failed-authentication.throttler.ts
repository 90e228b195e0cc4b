import { hash } from 'node:crypto';
import { ThrottlerStorageRedisService } from '@nest-lab/throttler-storage-redis';
import { type ExecutionContext, HttpException, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerLimitDetail, ThrottlerModule, type ThrottlerStorage } from '@nestjs/throttler';
import type { Response } from 'express';
import { Config } from '../config';
import { RateLimitModule } from '../rate-limit/rate-limit.module';
import { RedisConnection } from '../redis/redis';
import { InProcessThrottlerStorage } from './in-process-throttler.storage';

const WINDOW_MS = 60_000;

/**
 * Slows an address (of IPv6: its /64) that keeps failing to authenticate. ApiKeyGuard asks it after a failure only, so that
 * one bad client cannot lock out others that share its address.
 */
@Injectable()
export class FailedAuthenticationThrottler extends ThrottlerGuard {
  protected override throwThrottlingException(context: ExecutionContext, detail: ThrottlerLimitDetail): Promise<void> {
    const response = context.switchToHttp().getResponse<Response>();
    const waitSeconds = Math.max(1, detail.timeToBlockExpire);
    response.setHeader('X-RateLimit-Limit', detail.limit);
    response.setHeader('X-RateLimit-Remaining', 0);
    response.setHeader('X-RateLimit-Reset', Math.ceil(Date.now() / 1000) + waitSeconds);
    response.setHeader('Retry-After', waitSeconds);
    throw new HttpException('Too Many Requests', 429);
  }
}

export const FailedAuthenticationModule = ThrottlerModule.forRootAsync({
  imports: [RateLimitModule],
  inject: [Config, RedisConnection],
  useFactory: ({ authenticationFailures }: Config, redis?: RedisConnection) => ({
    throttlers: [{ name: 'authentication-failures', limit: authenticationFailures, ttl: WINDOW_MS }],
    setHeaders: false,
    generateKey: (_: ExecutionContext, address: string) => hash('sha256', address, 'base64'),
    storage: redis ? failingOpen(redis) : new InProcessThrottlerStorage(),
  }),
});

/** A counter that cannot be reached refuses no request: a key cannot be guessed, counted or not. */
function failingOpen(redis: RedisConnection): ThrottlerStorage {
  const storage = new ThrottlerStorageRedisService(redis);
  const uncounted = { totalHits: 0, timeToExpire: 0, isBlocked: false, timeToBlockExpire: 0 };
  return { increment: (...args) => redis.withDeadline(storage.increment(...args)).catch(() => uncounted) };
}
