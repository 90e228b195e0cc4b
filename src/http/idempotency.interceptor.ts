import { createHash } from 'node:crypto';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { IdempotentAnswers } from '../database/idempotent-answers';
import { JsonPayload } from './envelope.interceptor';
import { InvalidField } from '../errors/exceptions';
import { NotFoundController } from './not-found.controller';

/** 1 to 255 visible ASCII characters */
export const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/;

/** Methods that do something again when a request is repeated. */
export const NON_IDEMPOTENT_METHODS = ['POST', 'PATCH'];

/**
 * Carries out a POST or PATCH with an `Idempotency-Key` once: its handler runs in one transaction with the look-up and the
 * storing of its response (docs/decisions/0012). A dry run is such a transaction, rolled back.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(private readonly responses: IdempotentAnswers) {}

  /** @throws InvalidField when the key is not 1 to 255 visible ASCII characters, IdempotencyKeyInUse, IdempotencyKeyReused */
  intercept(context: ExecutionContext, next: CallHandler<JsonPayload>): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (context.getClass() === NotFoundController) return next.handle();
    if (request.isDryRun) return from(this.responses.dryRun(request.caller!, () => lastValueFrom(next.handle())));
    const key = request.headers['idempotency-key'];
    if (key === undefined || !request.caller || !NON_IDEMPOTENT_METHODS.includes(request.method)) return next.handle();
    if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key))
      throw new InvalidField('Idempotency-Key', 'header Idempotency-Key');
    const handle = async (): Promise<string> => (await lastValueFrom(next.handle())).text;
    const replay = async (): Promise<JsonPayload> => {
      const { text, isReplayed } = await this.responses.once(request.caller!, key, fingerprintOf(request), handle);
      if (isReplayed) http.getResponse<Response>().setHeader('Idempotency-Replayed', 'true');
      return new JsonPayload([text]);
    };
    return from(replay());
  }
}

/** SHA-256 of the method, the path and the body as JSON: its white space and compression make no difference. */
const fingerprintOf = ({ method, path, body }: Request): Buffer =>
  createHash('sha256')
    .update(`${method} ${path}\n${JSON.stringify(body ?? {})}`)
    .digest();
