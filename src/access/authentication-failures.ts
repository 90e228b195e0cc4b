import { HttpException, Injectable } from '@nestjs/common';
import { InjectThrottlerStorage, ThrottlerStorage } from '@nestjs/throttler';
import type { Response } from 'express';
import { Config } from '../config';
import { REDIS_DEADLINE, withDeadline } from '../rate-limit/redis';

/** milliseconds over which failures are counted, and for which an address that had too many is refused */
const WINDOW = 60_000;

/**
 * Slows an address that keeps failing to authenticate. Requests with a valid key are never counted and never refused,
 * so that one bad client cannot lock out others behind the same address.
 */
@Injectable()
export class AuthenticationFailures {
  constructor(
    @InjectThrottlerStorage() private readonly storage: ThrottlerStorage,
    private readonly config: Config,
  ) {}

  /** @throws HttpException 429 when the address had too many failures within a minute */
  async count(address: string, response: Response): Promise<void> {
    const limit = this.config.authenticationFailures;
    // A counter that is out of reach refuses nobody: a key cannot be guessed, counted or not.
    const counted = this.storage.increment(address, WINDOW, limit, WINDOW, 'authentication-failures');
    const record = await withDeadline(counted, REDIS_DEADLINE).catch(() => undefined);
    if (!record?.isBlocked) return;
    const wait = Math.max(1, record.timeToBlockExpire);
    response.setHeader('X-RateLimit-Limit', limit);
    response.setHeader('X-RateLimit-Remaining', 0);
    response.setHeader('X-RateLimit-Reset', Math.ceil(Date.now() / 1000) + wait);
    response.setHeader('Retry-After', wait);
    throw new HttpException('Too Many Requests', 429);
  }
}
