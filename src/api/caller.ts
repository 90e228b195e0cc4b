import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Caller } from '../database/statements';

export type { Caller };

/** The caller of a request, with the limits of the API key. */
export interface LimitedCaller extends Caller {
  /** tokens */
  maxTokens: number;
  /** tokens a second */
  refillRate: number;
  /** the faults that each request of the key has on a server that simulates them */
  simulate?: string | null;
}

declare module 'express-serve-static-core' {
  interface Request {
    /** set by ApiKeyGuard on every route that is not public */
    caller?: LimitedCaller;
  }
}

/** The caller as a handler's argument. */
export const CurrentCaller = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<Request>().caller,
);
