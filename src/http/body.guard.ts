import { PassThrough, pipeline } from 'node:stream';
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
import { refuseBody } from './broken-requests';
import { READS_BODY } from './parameters';
import { makePlain } from './plain-json';
import { LARGEST_BODY, UnfinishedBodies } from './unfinished';

const SAFE = ['GET', 'HEAD'];

const JSON_TYPES = ['application/json', '+json'];

const readBytes = raw({ type: () => true, limit: LARGEST_BODY });

/** Of the whole process, because its memory is. */
const unfinished = new UnfinishedBodies();

/**
 * Reads the JSON body. A guard after the two others and no middleware, so that a request without a valid key, or
 * without a token, never has its body read.
 */
@Injectable()
export class BodyGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  /** @throws BadRequestException, PayloadTooLargeException */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    // What is broken by the time that key and token are checked was refused, and must do nothing.
    const response = http.getResponse<Response>();
    if (response.writableEnded) return false;
    const request = http.getRequest<Request>();
    if (this.reflector.get<boolean | undefined>(READS_BODY, context.getHandler())) return readInto(request, response);
    // Nobody's body is waited for where no key is needed: nothing is written there.
    if (!request.caller) return true;
    // A write that takes no body is not obeyed either before it has come whole and sound.
    return SAFE.includes(request.method) || readPast(request, response);
  }
}

/** A body of another type counts as empty, but has come whole and is not too large either. */
async function readInto(request: Request, response: Response): Promise<true> {
  if (request.is(JSON_TYPES)) request.body = parse(await read(request, response));
  else {
    await readPast(request, response);
    request.body = {};
  }
  return true;
}

/** Waits for the end of a body that nobody looks at. */
function readPast(request: Request, response: Response): true | Promise<true> {
  if (request.complete) return true;
  sayContinue(request, response);
  return endOf(request);
}

/**
 * Waits until a body has come whole.
 * @throws BadRequestException when it never will, PayloadTooLargeException as soon as that is known
 */
function endOf(request: Request): Promise<true> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) reject(new BadRequestException());
    // What does not become smaller by it is a little larger when it is compressed.
    const most = isCompressed(request) ? 2 * LARGEST_BODY : LARGEST_BODY;
    let size = 0;
    request.on('data', (bytes: Buffer) => {
      size += bytes.length;
      if (size > most) reject(new PayloadTooLargeException());
    });
    request.once('end', () => resolve(true));
    request.once('error', () => reject(new BadRequestException()));
    request.once('close', () => reject(new BadRequestException()));
  });
}

/** @throws PayloadTooLargeException in place of asking for a body that is said to be too large */
function sayContinue(request: Request, response: Response): void {
  // How large a compressed one is nobody knows yet.
  const length = isCompressed(request) ? 0 : Number(request.headers['content-length']);
  if (length > LARGEST_BODY) throw new PayloadTooLargeException();
  if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue();
}

const isCompressed = ({ headers }: Request): boolean => headers['content-encoding'] !== undefined;

/** The bytes of a JSON body. */
async function read(request: Request, response: Response): Promise<Buffer> {
  sayContinue(request, response);
  const bytes = collect(request, response);
  if (request.complete) return bytes;
  // What was compressed may end before the body does; and what is too large is refused before it ends.
  return (await Promise.all([bytes, endOf(request)]))[0];
}

function collect(request: Request, response: Response): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    unfinished.watch(request, response, () => {
      if (!response.headersSent) refuseBody(response, 408);
      // What has come of it is held until then. It must not wait for the client to take the answer.
      request.destroy();
    });
    const source = request.socket.readable ? request : withoutSocket(request);
    readBytes(source, response, (error?: { status?: number }) => {
      if (!error) resolve(source.body as Buffer);
      else reject(error.status === 413 ? new PayloadTooLargeException() : new BadRequestException());
    });
  });
}

/** The same body. Of a client that has closed its side already, body-parser would take it for read, and for empty. */
function withoutSocket(request: Request): Request {
  const { headers } = request;
  return Object.assign(
    pipeline(request, new PassThrough(), () => undefined),
    { headers },
  ) as object as Request;
}

/** @throws BadRequestException when the bytes are not UTF-8, not JSON, not an object, or too deep */
function parse(bytes: Buffer): object {
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
