import {
  BadRequestException,
  CanActivate,
  ExecutionContext,
  Injectable,
  PayloadTooLargeException,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { raw } from 'body-parser';
import type { Request, Response } from 'express';
import { READS_BODY } from './parameters';
import { makePlain } from './plain-json';

/** bytes, after decompression */
export const LARGEST_BODY = 1_048_576;

const readBytes = raw({ type: ['application/json', '+json'], limit: LARGEST_BODY });

/**
 * Reads the JSON body. A guard after the two others and no middleware, so that a request without a valid key, or
 * without a token, never has its body read.
 */
@Injectable()
export class BodyGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  /** @throws BadRequestException, PayloadTooLargeException */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (!this.reflector.get<boolean | undefined>(READS_BODY, context.getHandler())) return true;
    const http = context.switchToHttp();
    return readInto(http.getRequest<Request>(), http.getResponse<Response>());
  }
}

async function readInto(request: Request, response: Response): Promise<true> {
  if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue();
  request.body = parse(await read(request, response));
  return true;
}

/** The bytes of a JSON body, or undefined when there is none or its content type is another one. */
const read = (request: Request, response: Response): Promise<Buffer | undefined> =>
  new Promise((resolve, reject) => {
    readBytes(request, response, (error?: { status?: number }) => {
      if (!error) resolve(Buffer.isBuffer(request.body) ? request.body : undefined);
      else reject(error.status === 413 ? new PayloadTooLargeException() : new BadRequestException());
    });
  });

/** @throws BadRequestException when the bytes are not UTF-8, not JSON, not an object, or too deep */
function parse(bytes: Buffer | undefined): object {
  if (bytes === undefined) return {};
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new BadRequestException();
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body) || !makePlain(body)) {
    throw new BadRequestException();
  }
  return body;
}
