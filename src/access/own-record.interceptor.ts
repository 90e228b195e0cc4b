import { type CallHandler, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { Writes } from '../data/database/writes';
import { OutOfScope, RowNotFound } from '../errors/exceptions';
import { HttpInterceptor } from '../http/pipeline/http-interceptor';
import { type OwnRecord, ownRecordOf, requiredScopesOf, scopesOf } from '../http/pipeline/scopes';
import { OwnRecords } from './own-records';

/**
 * Decides once more whether a record is still the key's own, in the transaction of the handler and after it. Somebody else may
 * have changed the record since ScopeInterceptor looked; then nothing is shown and nothing is written.
 */
@Injectable()
export class OwnRecordInterceptor extends HttpInterceptor {
  constructor(
    private readonly ownRecords: OwnRecords,
    private readonly writes: Writes,
  ) {
    super();
  }

  /** @throws OutOfScope */
  protected handle(
    request: Request,
    _response: Response,
    context: ExecutionContext,
    next: CallHandler,
  ): Observable<unknown> {
    const { caller } = request;
    const ownRecord = caller?.scope === 'capture' ? ownRecordOf(context) : undefined;
    if (!caller || !ownRecord || scopesOf(context, request.method).includes(caller.scope)) return next.handle();
    return from(this.writes.transaction(caller, () => this.handleOwn(request, context, next, ownRecord)));
  }

  private async handleOwn(
    request: Request,
    context: ExecutionContext,
    next: CallHandler,
    ownRecord: OwnRecord,
  ): Promise<unknown> {
    const requireOwn = async (): Promise<void> => {
      if (await this.ownRecords.isOwn(request, ownRecord)) return;
      throw new OutOfScope(requiredScopesOf(context, request.method));
    };
    const result: unknown = await lastValueFrom(next.handle()).catch(async (error: unknown) => {
      // A record that was deleted meanwhile is like any other that is not the key's own.
      if (error instanceof RowNotFound) await requireOwn();
      throw error;
    });
    await requireOwn();
    return result;
  }
}
