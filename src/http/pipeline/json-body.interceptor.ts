import { type CallHandler, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { InvalidRequest, NotReplayable } from '../../errors/exceptions';
import { type BodyOptions, bodyOptionsOf } from './body-options';
import { BodyReader, continueBody } from './body-reader';
import { countValues } from './count-values';
import { HttpInterceptor } from './http-interceptor';
import { oncePerHandler } from './handler-metadata';
import { rejectUnknownFields } from './preferences';

declare global {
  namespace Express {
    interface Request {
      /** Whether the body counts as empty because its content type is not JSON. */
      hasIgnoredBody?: boolean;
    }
  }
}

const SAFE_METHODS = ['GET', 'HEAD'];
const JSON_TYPES = ['application/json', '+json'];
const FORM_TYPE = 'multipart/form-data';

/**
 * Reads the body of a handler with `@Body()` as JSON. It follows the token bucket, so that a request without a key or a token
 * never has its body read.
 */
@Injectable()
export class JsonBodyInterceptor extends HttpInterceptor {
  private readonly reader = new BodyReader();
  private readonly optionsOf = oncePerHandler((context) => ({ body: bodyOptionsOf(context) }));

  /** @throws InvalidRequest, PayloadTooLargeException */
  protected handle(
    request: Request,
    response: Response,
    context: ExecutionContext,
    next: CallHandler,
  ): Observable<unknown> | Promise<Observable<unknown>> {
    const { body } = this.optionsOf(context);
    const isSafe = SAFE_METHODS.includes(request.method);
    // A write without a body must not happen either before it has arrived whole and well-formed.
    const isWrite = request.caller && !isSafe;
    const isRead = body ? !(body.isImplicit && isSafe) : isWrite;
    if (!isRead) return next.handle();
    if (body?.takesForms && request.is(FORM_TYPE)) {
      acceptForm(request, response);
      return next.handle();
    }
    return this.read(request, response, body).then(() => {
      if (request.isStrict && body) rejectUnknownFields(context, 'BODY', request.body as object);
      return next.handle();
    });
  }

  private async read(request: Request, response: Response, options?: BodyOptions): Promise<void> {
    // Middleware of a module has read it.
    if (options && request.body !== undefined) return;
    const bytes = await this.reader.collect(request, response);
    if (!options) return;
    // Node keeps a request until the next one on its connection.
    response.once('finish', () => (request.body = undefined));
    if (options.isRaw) {
      const raw = await this.reader.unpack(request, response, bytes);
      Object.assign(request, { rawBody: raw });
      if (options.isImplicit) return;
    }
    if (request.is(JSON_TYPES)) request.body = parse(await this.reader.unpack(request, response, bytes), options);
    else if (options.allOptional && bytes.length > 0) throw new InvalidRequest('header Content-Type', 'unsupported');
    else {
      request.body = {};
      request.hasIgnoredBody = bytes.length > 0;
    }
  }
}

/** Leaves a form to the interceptor of the handler that reads it. */
function acceptForm(request: Request, response: Response): void {
  // The bytes are not there to be compared with those of the next request.
  if (request.headers['idempotency-key'] !== undefined) throw new NotReplayable();
  continueBody(request, response);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** @throws InvalidRequest when the bytes are not UTF-8 or not the JSON that the handler takes, PayloadTooLargeException */
function parse(bytes: Buffer, { accepts }: BodyOptions): object {
  countValues(bytes);
  let body: unknown;
  if (bytes.length === 0) throw new InvalidRequest('body', 'missing');
  try {
    body = JSON.parse(UTF8.decode(bytes));
  } catch {
    throw new InvalidRequest('body', 'syntax');
  }
  if (typeof body !== 'object' || body === null) throw new InvalidRequest('body', 'type');
  if (accepts !== 'either' && Array.isArray(body) !== (accepts === 'array')) throw new InvalidRequest('body', 'type');
  return body;
}
