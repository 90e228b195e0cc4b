import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';

type Handled = Observable<unknown> | Promise<Observable<unknown>>;

/** A step of the pipeline. What is no HTTP request, such as a message of a team's gateway, passes it. */
export abstract class HttpInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Handled {
    if (context.getType() !== 'http') return next.handle();
    const http = context.switchToHttp();
    return this.handle(http.getRequest<Request>(), http.getResponse<Response>(), context, next);
  }

  protected abstract handle(
    request: Request,
    response: Response,
    context: ExecutionContext,
    next: CallHandler,
  ): Handled;
}
