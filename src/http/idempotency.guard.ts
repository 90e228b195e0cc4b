import { createHash } from 'node:crypto';
import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Once } from '../database/idempotent-answers';
import { ErrorInWords, InvalidField } from './errors';
import { NotFoundController } from './not-found.controller';

const HEADER = 'idempotency-key';
/** 1 to 255 visible ASCII characters */
export const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/;
/** Methods of which every repetition would do something again. */
export const REPEATABLE = ['POST', 'PATCH'];

/** What is said of a key that is refused, by status. */
export const REFUSALS = {
  409: 'The first request with this Idempotency-Key is still running',
  422: 'This Idempotency-Key was used for another request',
};

const refusal: Once['refusal'] = (reason) => {
  const status = reason === 'used' ? 422 : 409;
  return new ErrorInWords(status, REFUSALS[status]);
};

/** Takes up the `Idempotency-Key` of a POST or a PATCH, after its body is read. Other methods are idempotent as they are. */
@Injectable()
export class IdempotencyGuard implements CanActivate {
  /** @throws InvalidField when the key is not 1 to 255 visible ASCII characters */
  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const key = request.headers[HEADER];
    if (key === undefined || !request.caller || !REPEATABLE.includes(request.method)) return true;
    if (context.getClass() === NotFoundController) return true;
    if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)) throw new InvalidField('Idempotency-Key');
    const response = http.getResponse<Response>();
    const replayed = (): void => void response.setHeader('Idempotency-Replayed', 'true');
    // A new object, as callers are remembered and shared.
    request.caller = { ...request.caller, once: { key, fingerprint: fingerprintOf(request), replayed, refusal } };
    return true;
  }
}

/** Of the method, the path and the body as JSON: neither white space in it nor how it was compressed matters. */
const fingerprintOf = ({ method, path, body }: Request): Buffer =>
  createHash('sha256')
    .update(`${method} ${path}\n${JSON.stringify(body ?? {})}`)
    .digest();
