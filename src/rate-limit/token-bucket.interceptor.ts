import {
  type CallHandler,
  type ExecutionContext,
  HttpException,
  HttpStatus,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { TokenBucketStore } from './token-bucket.store';

/** Takes one token for each request with a valid key, and sets the X-RateLimit headers. Public routes cost none. */
@Injectable()
export class TokenBucketInterceptor implements NestInterceptor {
  constructor(private readonly buckets: TokenBucketStore) {}

  /** @throws HttpException 429 when the bucket holds no whole token */
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const { caller } = http.getRequest<Request>();
    if (!caller) return next.handle();
    const response = http.getResponse<Response>();
    const taken = await this.buckets.take(caller.keyId, caller);
    response.setHeader('X-RateLimit-Limit', caller.maxTokens);
    response.setHeader('X-RateLimit-Remaining', taken.remaining);
    response.setHeader('X-RateLimit-Reset', taken.resetAt);
    if (taken.admitted) return next.handle();
    response.setHeader('Retry-After', taken.retryAfter);
    throw new HttpException('Too Many Requests', HttpStatus.TOO_MANY_REQUESTS);
  }
}
