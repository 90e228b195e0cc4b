import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import {
  BadRequestException,
  CanActivate,
  ExecutionContext,
  Injectable,
  PayloadTooLargeException,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { refuse } from './errors';
import { READS_BODY } from './parameters';
import { makePlain } from './plain-json';
import { LARGEST_BODY, UnfinishedBodies } from './unfinished';

const SAFE = ['GET', 'HEAD'];

const JSON_TYPES = ['application/json', '+json'];

const DECOMPRESS = new Map([
  ['gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

const NOTHING = Buffer.alloc(0);

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
  // Node keeps a request, and who listens to it, until its connection brings the next one.
  response.once('finish', () => (request.body = undefined));
  if (request.is(JSON_TYPES)) request.body = parse(await read(request, response));
  else {
    await readPast(request, response);
    request.body = {};
  }
  return true;
}

/** Waits for the end of a body that nobody looks at. */
async function readPast(request: Request, response: Response): Promise<true> {
  if (request.complete) return true;
  sayContinue(request, response);
  await endOf(request, () => undefined);
  return true;
}

/** The bytes of a JSON body. */
async function read(request: Request, response: Response): Promise<Buffer> {
  const encoding = encodingOf(request);
  if (encoding === undefined) return collect(request, response);
  const decompress = DECOMPRESS.get(encoding);
  if (!decompress) throw new BadRequestException();
  return decompress(await collect(request, response), { maxOutputLength: LARGEST_BODY }).catch(
    ({ code }: NodeJS.ErrnoException) => {
      throw code === 'ERR_BUFFER_TOO_LARGE' ? new PayloadTooLargeException() : new BadRequestException();
    },
  );
}

/** The bytes of a body as they come. */
async function collect(request: Request, response: Response): Promise<Buffer> {
  sayContinue(request, response);
  let bytes: Buffer = NOTHING;
  let length = 0;
  const hold = unfinished.watch(request, response, () => {
    if (!response.headersSent) refuse(response, 408);
    // Now: the client may take its time to take the answer.
    bytes = NOTHING;
  });
  // Into one piece as it comes: thousands of tiny ones take far more memory than they are long.
  const take = (piece: Buffer): void => {
    if (response.writableEnded) return;
    if (bytes.length < length + piece.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * bytes.length, length + piece.length));
      hold(larger.length - bytes.length);
      if (response.writableEnded) return; // it was this one that was given up
      bytes.copy(larger);
      bytes = larger;
    }
    length += piece.copy(bytes, length);
  };
  try {
    await endOf(request, take);
    return bytes.subarray(0, length);
  } finally {
    bytes = NOTHING;
  }
}

/**
 * Takes a body as it comes, until it has come whole.
 * @throws BadRequestException when it never will, PayloadTooLargeException as soon as that is known
 */
function endOf(request: Request, take: (piece: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) reject(new BadRequestException());
    // What does not become smaller by it is a little larger when it is compressed.
    const most = encodingOf(request) ? 2 * LARGEST_BODY : LARGEST_BODY;
    let size = 0;
    request.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size > most) reject(new PayloadTooLargeException());
      else take(piece);
    });
    request.once('end', resolve);
    request.once('error', () => reject(new BadRequestException()));
    request.once('close', () => reject(new BadRequestException()));
  });
}

/** @throws PayloadTooLargeException in place of asking for a body that is said to be too large */
function sayContinue(request: Request, response: Response): void {
  // How large a compressed one is nobody knows yet.
  const length = encodingOf(request) ? 0 : Number(request.headers['content-length']);
  if (length > LARGEST_BODY) throw new PayloadTooLargeException();
  if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue();
}

/** How a body is compressed, if it is. */
function encodingOf({ headers }: Request): string | undefined {
  const encoding = headers['content-encoding']?.toLowerCase();
  return encoding === '' || encoding === 'identity' ? undefined : encoding;
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
