import { type CanActivate, type ExecutionContext, HttpException, HttpStatus, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Caller } from '../http/caller';

import { TokenBucketStore } from './token-bucket.store';

/**
 * Charges each request with a valid key one token, before its body is read. Requests without a caller (public routes)
 * pass: there is no key to charge.
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(private readonly buckets: TokenBucketStore) {}

  /** @throws HttpException 429 when the bucket holds no whole token */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const { caller } = http.getRequest<Request>();
    return caller ? this.charge(caller, http.getResponse<Response>()) : true;
  }

  private async charge(caller: Caller, response: Response): Promise<true> {
    const taken = await this.buckets.take(caller.keyId, caller);
    response.setHeader('X-RateLimit-Limit', caller.maxTokens);
    response.setHeader('X-RateLimit-Remaining', taken.remaining);
    response.setHeader('X-RateLimit-Reset', taken.resetAt);
    if (taken.admitted) return true;

    response.setHeader('Retry-After', taken.retryAfter);
    throw new HttpException('Too Many Requests', HttpStatus.TOO_MANY_REQUESTS);
  }
}
