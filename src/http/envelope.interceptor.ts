import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { map, type Observable } from 'rxjs';
import { ENVELOPE, type Envelope } from '../api-schema/returns';

/** JSON text that is sent as it is, in parts: of a list, each record is one. */
export class JsonPayload {
  constructor(readonly parts: readonly string[]) {}

  get text(): string {
    return this.parts.join('');
  }
}

/** Puts the envelope of `@Returns…` around what a handler returns, which is JSON text from PostgreSQL. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  intercept(context: ExecutionContext, next: CallHandler<never>): Observable<unknown> {
    const envelope = this.reflector.get<Envelope | undefined>(ENVELOPE, context.getHandler());
    return envelope ? next.handle().pipe(map((results) => new JsonPayload(envelope(results)))) : next.handle();
  }
}
