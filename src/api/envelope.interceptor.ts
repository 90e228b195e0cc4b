import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  StreamableFile,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import { ENVELOPE, type Envelope, plainEnvelope } from './returns';
import { JsonPayload } from '../server/json-payload';
import { writesOwnResponse } from './handler-metadata';
import { HTTP_CODE_METADATA, PATH_METADATA } from './nest-internals';

/**
 * Puts the envelope around what a handler returns, which is JSON text from PostgreSQL or an object: that of `@Returns…`, or,
 * without such a decorator, `results`, in which a `Page` stands under the first word of the controller's path. Files, and what
 * a handler writes itself, have none.
 */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  intercept(context: ExecutionContext, next: CallHandler<never>): Observable<unknown> {
    const http = context.switchToHttp();
    const envelope =
      this.reflector.get<Envelope | undefined>(ENVELOPE, context.getHandler()) ??
      (http.getRequest<Request>().caller && this.plainEnvelope(context, http.getResponse<Response>()));
    if (!envelope) return next.handle();
    const wrap = (results: never): unknown =>
      (results as unknown) instanceof StreamableFile ? results : new JsonPayload(envelope(results));
    return next.handle().pipe(map(wrap));
  }

  /** Every success is 200, unless the handler says otherwise; Nest would make it 201 for a POST. */
  private plainEnvelope(context: ExecutionContext, response: Response): Envelope | undefined {
    if (writesOwnResponse(context)) return undefined;
    const status = this.reflector.get<number | undefined>(HTTP_CODE_METADATA, context.getHandler()) ?? 200;
    response.status(status);
    const path = this.reflector.get<string>(PATH_METADATA, context.getClass());
    return plainEnvelope(status, path.split('/').find(Boolean) ?? 'items');
  }
}
