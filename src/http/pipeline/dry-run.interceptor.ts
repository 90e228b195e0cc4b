import { type CallHandler, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { Writes } from '../../data/database/writes';
import { HttpInterceptor } from './http-interceptor';
import { NotFoundController } from './not-found.controller';

/** Carries out a write with `Prefer: tx=rollback` in a transaction that is rolled back. It never has an `Idempotency-Key`. */
@Injectable()
export class DryRunInterceptor extends HttpInterceptor {
  constructor(private readonly writes: Writes) {
    super();
  }

  protected handle(
    { isDryRun, caller }: Request,
    _response: Response,
    context: ExecutionContext,
    next: CallHandler,
  ): Observable<unknown> {
    if (!isDryRun || !caller || context.getClass() === NotFoundController) return next.handle();
    return from(this.writes.dryRun(caller, () => lastValueFrom(next.handle())));
  }
}
