import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { OutOfScope } from '../errors/exceptions';
import { ownRecordOf, requiredScopesOf, scopesOf } from '../http/pipeline/scopes';
import { OwnRecords } from './own-records';

/** Rejects what the scope of the key does not allow, before anything else of the request is looked at. */
@Injectable()
export class ScopeInterceptor implements NestInterceptor {
  constructor(private readonly ownRecords: OwnRecords) {}

  /** @throws OutOfScope */
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    if (context.getType() !== 'http') return next.handle();
    const request = context.switchToHttp().getRequest<Request>();
    const { caller } = request;
    if (!caller || caller.scope === 'all') return next.handle();
    if (scopesOf(context, request.method).includes(caller.scope)) return next.handle();
    const ownRecord = caller.scope === 'capture' ? ownRecordOf(context) : undefined;
    if (ownRecord && (await this.ownRecords.isOwn(request, ownRecord))) return next.handle();
    throw new OutOfScope(requiredScopesOf(context, request.method));
  }
}
