import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { PUBLIC } from '../api/public';
import { Transactions } from '../database/transactions';
import { MissingApiKey, RejectedApiKey } from '../errors/exceptions';
import { AccessService } from './access.service';
import { FailedAuthenticationThrottler } from './failed-authentication.throttler';

/** Authenticates a request by its `x-api-key`: 401 without one, 403 with an invalid one, 429 after too many invalid ones. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly access: AccessService,
    private readonly throttler: FailedAuthenticationThrottler,
    private readonly transactions: Transactions,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    // Gateways and resolvers do not start unless they are `@Public()` (api/unsupported-handlers.ts).
    if (context.getType() !== 'http') return true;
    if (this.reflector.getAllAndOverride<boolean>(PUBLIC, [context.getHandler(), context.getClass()])) return true;
    const request = context.switchToHttp().getRequest<Request>();
    // Node joins a header that was sent twice with a comma, which no key contains.
    const key = request.headers['x-api-key'];
    const isMissing = typeof key !== 'string' || key.trim() === '';
    request.caller = isMissing ? undefined : await this.access.findCaller(key);
    if (request.caller) {
      this.transactions.setOrganization(request.caller.organizationId);
      return true;
    }
    await this.throttler.canActivate(context);
    throw isMissing ? new MissingApiKey() : new RejectedApiKey();
  }
}
