import { type CallHandler, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { InvalidRequest } from '../../errors/exceptions';
import { HttpInterceptor } from './http-interceptor';
import { parsePreferences, rejectUnknownFields } from './preferences';

/** Reads `Prefer`. The steps that follow find in the request whether it is strict or a dry run. */
@Injectable()
export class PreferencesInterceptor extends HttpInterceptor {
  /** @throws InvalidRequest for a preference that is wrong, and for an unknown query parameter of a strict request */
  protected handle(
    request: Request,
    response: Response,
    context: ExecutionContext,
    next: CallHandler,
  ): Observable<unknown> {
    // The rest of the request was malformed, and it was rejected while its key was checked.
    if (response.writableEnded) throw new InvalidRequest('body', 'syntax');
    if (request.caller) parsePreferences(request, response);
    if (request.isStrict) rejectUnknownFields(context, 'QUERY', request.query);
    return next.handle();
  }
}
