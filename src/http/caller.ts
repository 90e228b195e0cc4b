import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** On whose behalf a request is made: the organization of its API key, and the limits of that key. */
export interface Caller {
  organizationId: number;
  keyId: string;
  /** tokens */
  maxTokens: number;
  /** tokens a second */
  refillRate: number;
}

declare module 'express-serve-static-core' {
  interface Request {
    /** set by ApiKeyGuard on every route that is not public */
    caller?: Caller;
  }
}

/** The caller as a handler's argument. */
export const CurrentCaller = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<Request>().caller,
);
