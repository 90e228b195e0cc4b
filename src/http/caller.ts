import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Writer } from '../database/writes';

/** On whose behalf a request is made: the organization of its API key, and the limits of that key. */
export interface Caller extends Writer {
  /** tokens */
  maxTokens: number;
  /** tokens a second */
  refillRate: number;
}

declare module 'express-serve-static-core' {
  interface Request {
    /** set by the access guard on every route that is not public */
    caller?: Caller;
  }
}

/** The caller as a handler's argument. */
export const CurrentCaller = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<Request>().caller,
);
