import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ORGANIZATION_HEADER, REFILL_HEADER } from '../http/pipeline/caller';
import type { HandlerContext } from '../http/pipeline/handler-metadata';
import { API_OPERATION_METADATA } from '../http/pipeline/nest-internals';
import { PUBLIC } from '../http/pipeline/public';
import { Transactions } from '../data/database/transactions';
import { MissingApiKey, RejectedApiKey } from '../errors/exceptions';
import { AccessService } from './access.service';
import { FailedAuthenticationThrottler } from './failed-authentication.throttler';

/** The response header that names the scope of a key that may not do everything. */
export const SCOPE_HEADER = 'Lanyard-Key-Scope';

/** The operationId of a handler, as the audit log names what a key calls. */
function operationOf(context: ExecutionContext): string {
  const handler = context.getHandler();
  const { operationId } = (Reflect.getMetadata(API_OPERATION_METADATA, handler) ?? {}) as { operationId?: string };
  return operationId || handler.name;
}

/** Whether a handler needs no key. */
export const isPublic = (context: HandlerContext): boolean =>
  [context.getHandler(), context.getClass()].some((target) => Reflect.getMetadata(PUBLIC, target) === true);

/** Authenticates a request by its `x-api-key`: 401 without one, 403 with an invalid one, 429 after too many invalid ones. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly access: AccessService,
    private readonly throttler: FailedAuthenticationThrottler,
    private readonly transactions: Transactions,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    // Gateways and resolvers do not start unless they are `@Public()` (http/pipeline/unsupported-handlers.ts).
    if (context.getType() !== 'http' || isPublic(context)) return true;
    const request = context.switchToHttp().getRequest<Request>();
    // Node joins a header that was sent twice with a comma, which no key contains.
    const key = request.headers['x-api-key'];
    const isMissing = typeof key !== 'string' || key.trim() === '';
    const caller = isMissing ? undefined : await this.access.findCaller(key);
    if (caller) {
      const response = context.switchToHttp().getResponse<Response>();
      if (caller.scope !== 'all') response.setHeader(SCOPE_HEADER, caller.scope);
      response.setHeader(ORGANIZATION_HEADER, caller.organizationName);
      response.setHeader(REFILL_HEADER, caller.refillRate);
      request.caller = { ...caller, operation: operationOf(context) };
      this.transactions.setCaller(request.caller);
      return true;
    }
    await this.throttler.canActivate(context);
    throw isMissing ? new MissingApiKey() : new RejectedApiKey();
  }
}
