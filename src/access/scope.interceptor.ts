import { type CallHandler, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { OutOfScope } from '../errors/exceptions';
import { HttpInterceptor } from '../http/pipeline/http-interceptor';
import { ownRecordOf, requiredScopesOf, scopesOf } from '../http/pipeline/scopes';
import { OwnRecords } from './own-records';

/** Rejects what the scope of the key does not allow, before anything else of the request is looked at. */
@Injectable()
export class ScopeInterceptor extends HttpInterceptor {
  constructor(private readonly ownRecords: OwnRecords) {
    super();
  }

  /** @throws OutOfScope */
  protected async handle(
    request: Request,
    _response: Response,
    context: ExecutionContext,
    next: CallHandler,
  ): Promise<Observable<unknown>> {
    const { caller } = request;
    if (!caller || caller.scope === 'all') return next.handle();
    if (scopesOf(context, request.method).includes(caller.scope)) return next.handle();
    const ownRecord = caller.scope === 'capture' ? ownRecordOf(context) : undefined;
    if (ownRecord && (await this.ownRecords.isOwn(request, ownRecord))) return next.handle();
    throw new OutOfScope(requiredScopesOf(context, request.method));
  }
}
