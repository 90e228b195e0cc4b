import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { Writes } from '../data/database/writes';
import { OutOfScope, RowNotFound } from '../errors/exceptions';
import { type OwnRecord, ownRecordOf, requiredScopesOf, scopesOf } from '../http/pipeline/scopes';
import { OwnRecords } from './own-records';

/**
 * Decides once more whether a record is still the key's own, in the transaction of the handler and after it. Somebody else may
 * have changed the record since ScopeInterceptor looked; then nothing is shown and nothing is written.
 */
@Injectable()
export class OwnRecordInterceptor implements NestInterceptor {
  constructor(
    private readonly ownRecords: OwnRecords,
    private readonly writes: Writes,
  ) {}

  /** @throws OutOfScope */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType() !== 'http') return next.handle();
    const request = context.switchToHttp().getRequest<Request>();
    const { caller } = request;
    const ownRecord = caller?.scope === 'capture' ? ownRecordOf(context) : undefined;
    if (!caller || !ownRecord || scopesOf(context, request.method).includes(caller.scope)) return next.handle();
    return from(this.writes.transaction(caller, () => this.handle(context, next, ownRecord)));
  }

  private async handle(context: ExecutionContext, next: CallHandler, ownRecord: OwnRecord): Promise<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
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
