import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { map, Observable } from 'rxjs';
import { Envelope, ENVELOPE } from './returns';

/** Wraps what a handler returns as its `@Returns…` decorator says. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const envelope = this.reflector.get<Envelope | undefined>(ENVELOPE, context.getHandler());
    if (!envelope) return next.handle();
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(
      map((result: unknown) => {
        response.setHeader('Content-Type', 'application/json; charset=utf-8');
        return envelope(result as never);
      }),
    );
  }
}
