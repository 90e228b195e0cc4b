import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { type CallHandler, type ExecutionContext, Injectable, type RawBodyRequest } from '@nestjs/common';
import type { Request, Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { IdempotencyStore, type StoredResponse } from '../../data/database/idempotency-store';
import { JsonPayload } from '../server/json-payload';
import { InvalidField, NotReplayable } from '../../errors/exceptions';
import { HttpInterceptor } from './http-interceptor';
import { writesOwnResponse } from './handler-metadata';
import { NotFoundController } from './not-found.controller';
import { bodyToStore } from './shown-once';

/** The form of a key: 1 to 255 visible ASCII characters. */
export const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/;

/** Methods that do something again when a request is repeated. */
export const NON_IDEMPOTENT_METHODS = ['POST', 'PATCH'];

/**
 * Carries out a POST or PATCH with an `Idempotency-Key` once: its handler runs in one transaction with the look-up and the
 * storing of its response (docs/decisions/0012).
 */
@Injectable()
export class IdempotencyInterceptor extends HttpInterceptor {
  constructor(private readonly responses: IdempotencyStore) {
    super();
  }

  /**
   * @throws InvalidField when the key is not 1 to 255 visible ASCII characters, NotReplayable when the handler's response is
   * not JSON, IdempotencyKeyInUse, IdempotencyKeyReused
   */
  protected handle(
    request: Request,
    response: Response,
    context: ExecutionContext,
    next: CallHandler,
  ): Observable<unknown> {
    if (context.getClass() === NotFoundController) return next.handle();
    const key = request.headers['idempotency-key'];
    if (key === undefined || !request.caller || !NON_IDEMPOTENT_METHODS.includes(request.method)) return next.handle();
    if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key))
      throw new InvalidField('Idempotency-Key', 'format', { fault: 'header Idempotency-Key' });
    if (writesOwnResponse(context)) throw new NotReplayable();
    return from(this.once(request, response, context, key, next));
  }

  private async once(
    request: Request,
    response: Response,
    context: ExecutionContext,
    key: string,
    next: CallHandler,
  ): Promise<JsonPayload> {
    let payload: unknown;
    const headersBefore = response.getHeaders();
    const handle = async (): Promise<StoredResponse> => {
      payload = await lastValueFrom(next.handle());
      // A file is known by what the handler returns, and its transaction is rolled back.
      if (!(payload instanceof JsonPayload)) throw new NotReplayable();
      const headers = changedHeaders(headersBefore, response.getHeaders());
      return { status: response.statusCode, headers, body: bodyToStore(context, payload.text) };
    };
    const { response: stored, isReplayed } = await this.responses.runOnce(
      request.caller!,
      key,
      fingerprintOf(request),
      handle,
    );
    if (!isReplayed) return payload as JsonPayload;
    response.status(stored.status).setHeader('Idempotency-Replayed', 'true');
    for (const [name, value] of Object.entries(stored.headers)) response.setHeader(name, value);
    return new JsonPayload([stored.body]);
  }
}

/** The headers that a handler has set: those of the request itself, such as its id and its limits, stood there before. */
function changedHeaders(before: OutgoingHttpHeaders, after: OutgoingHttpHeaders): StoredResponse['headers'] {
  const changed = Object.entries(after).filter(([name, value]) => String(value) !== String(before[name]));
  return Object.fromEntries(changed.map(([name, value]) => [name, Array.isArray(value) ? value : String(value)]));
}

/**
 * SHA-256 of the method, the path with its query string, and the body as JSON, whose white space and compression make no
 * difference, or its bytes if the handler gets these. Without a query string nothing is added for it, so that the keys of
 * earlier builds keep their meaning.
 */
function fingerprintOf({ method, path, url, body, rawBody }: RawBodyRequest<Request>): Buffer {
  const query = url.split('?').slice(1).join('?');
  const target = query === '' ? path : `${path}?${query}`;
  return createHash('sha256')
    .update(`${method} ${target}\n`)
    .update(rawBody ?? JSON.stringify(body ?? {}))
    .digest();
}
