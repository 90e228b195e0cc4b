import { type CallHandler, type ExecutionContext, Injectable, StreamableFile } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import { ENVELOPE, type Envelope, plainEnvelope } from './returns';
import { JsonPayload } from '../server/json-payload';
import { type HandlerContext, oncePerHandler, writesOwnResponse } from './handler-metadata';
import { HttpInterceptor } from './http-interceptor';
import { HTTP_CODE_METADATA, PATH_METADATA } from './nest-internals';

/** Makes the body of a response from what a handler returned. */
type Wrap = (results: never, response: Response) => unknown;

/** How the responses of a handler are made. */
interface ResponseFormat {
  /** Status before the handler runs, where it is not Nest's own. */
  status?: number;
  wrap: Wrap;
}

/**
 * Puts the envelope around what a handler returns, which is JSON text from PostgreSQL or an object: that of `@Returns…`, or,
 * without such a decorator, `results`, in which a `Page` stands under the first word of the controller's path. Files, streams,
 * what has a content type of its own, what a handler writes itself, and what is `@Plain()` have none.
 */
@Injectable()
export class EnvelopeInterceptor extends HttpInterceptor {
  private readonly formatOf = oncePerHandler((context) => this.readFormat(context));

  constructor(private readonly reflector: Reflector) {
    super();
  }

  protected handle(
    _request: Request,
    response: Response,
    context: ExecutionContext,
    next: CallHandler<never>,
  ): Observable<unknown> {
    const format = this.formatOf(context);
    if (!format) return next.handle();
    const { status, wrap } = format;
    if (status) response.status(status);
    return next.handle().pipe(map((results) => wrap(results, response)));
  }

  /** @returns null where a handler has no envelope */
  private readFormat(context: HandlerContext): ResponseFormat | null {
    const handler = context.getHandler();
    const envelope = this.reflector.get<Envelope | undefined>(ENVELOPE, handler);
    if (envelope) return { wrap: (results) => new JsonPayload(envelope(results)) };
    if (writesOwnResponse(context)) return null;
    const path = this.reflector.get<string | string[]>(PATH_METADATA, context.getClass());
    const [key = 'items'] = [path].flat().flatMap((each) => each.split('/').filter(Boolean));
    const wrap: Wrap = (results, response) => {
      if (isSentAsItIs(results, response)) return results;
      return new JsonPayload(plainEnvelope(response.statusCode, key, results));
    };
    // Every success is 200, unless the handler says otherwise; Nest would make it 201 for a POST.
    return { status: this.reflector.get<number | undefined>(HTTP_CODE_METADATA, handler) ?? 200, wrap };
  }
}

/** Whether Nest sends what a handler returned otherwise than as JSON. */
function isSentAsItIs(results: unknown, response: Response): boolean {
  const type = response.getHeader('Content-Type');
  if (type !== undefined && !/^application\/json\b/i.test(String(type))) return true;
  return results instanceof StreamableFile || isStream(results);
}

/** A stream, an asynchronous iterable, or a Response of the web. Nest tells them the same way. */
function isStream(results: unknown): boolean {
  if (typeof results !== 'object' || results === null) return false;
  if (Object.prototype.toString.call(results) === '[object Response]') return true;
  return Symbol.asyncIterator in results && !('then' in results);
}
