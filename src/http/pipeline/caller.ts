import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Caller } from '../../data/database/statements';
import type { Scope } from './scopes';

export type { Caller };

/** The caller of a request, with the limits of the API key. */
export interface LimitedCaller extends Caller {
  /** Percent-encoded, as the header of each response has it. */
  organizationName: string;
  /** The capacity of the bucket in tokens. */
  maxTokens: number;
  /** The refill rate in tokens per second. */
  refillRate: number;
  /** What the key may do. */
  scope: Scope;
  /** The faults of each request of the key on a server that simulates them. */
  simulate?: string | null;
}

/** The response headers that name the organization of a valid key, percent-encoded, and the tokens per second of its bucket. */
export const ORGANIZATION_HEADER = 'Lanyard-Organization';
export const REFILL_HEADER = 'X-RateLimit-Refill';

declare global {
  namespace Express {
    interface Request {
      /** The caller, which ApiKeyGuard sets on every route that is not public. */
      caller?: LimitedCaller;
    }
  }
}

/** The caller as a handler's argument. */
export const CurrentCaller = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<Request>().caller,
);
