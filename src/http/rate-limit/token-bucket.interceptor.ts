import { type CallHandler, type ExecutionContext, HttpException, HttpStatus, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import type { LimitedCaller } from '../pipeline/caller';
import { HttpInterceptor } from '../pipeline/http-interceptor';
import type { TakeResult } from './token-bucket';
import { TokenBucketStore } from './token-bucket.store';

export const BUCKET_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const;

/** Takes one token for each request with a valid key, and sets the X-RateLimit headers. Public routes cost none. */
@Injectable()
export class TokenBucketInterceptor extends HttpInterceptor {
  constructor(private readonly buckets: TokenBucketStore) {
    super();
  }

  /** @throws HttpException 429 if the bucket holds no whole token */
  protected async handle(
    { caller }: Request,
    response: Response,
    _context: ExecutionContext,
    next: CallHandler,
  ): Promise<Observable<unknown>> {
    if (caller) this.applyResult(response, caller, await this.buckets.take(caller.keyId, caller));
    return next.handle();
  }

  /** @throws HttpException 429 */
  protected applyResult(response: Response, caller: LimitedCaller, result: TakeResult): void {
    const [limit, remaining, reset] = BUCKET_HEADERS;
    response.setHeader(limit, caller.maxTokens);
    response.setHeader(remaining, result.remaining);
    response.setHeader(reset, result.resetAt);
    if (result.isAdmitted) return;
    response.setHeader('Retry-After', result.retryAfter);
    throw new HttpException('Too Many Requests', HttpStatus.TOO_MANY_REQUESTS);
  }
}
