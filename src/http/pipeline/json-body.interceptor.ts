import { promisify } from 'node:util';
import { brotliDecompress, type BrotliOptions, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  PayloadTooLargeException,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { FairQueue } from '../../data/database/fair-queue';
import { InvalidRequest, NotReplayable } from '../../errors/exceptions';
import { BodyMemoryLimit, MAX_BODY_BYTES } from './body-memory-limit';
import { type BodyOptions, bodyOptionsOf, type CheckedPart, leaveToModule, partsLeftToModule } from './body-options';
import { sendError } from '../../errors/error-response';
import { oncePerHandler } from './handler-metadata';
import { parsePreferences, rejectUnknownFields } from './preferences';
import { countValues } from './count-values';
import { isObject } from '../../fields/field-rules';
import { jsonErrorOffset } from './json-syntax';

declare module 'express-serve-static-core' {
  interface Request {
    /** Whether the body counts as empty because its content type is not JSON. */
    hasIgnoredBody?: boolean;
  }
}

const EMPTY = Buffer.alloc(0);

const SAFE_METHODS = ['GET', 'HEAD'];
const JSON_TYPES = ['application/json', '+json'];
const FORM_TYPE = 'multipart/form-data';
const DECOMPRESSORS = new Map([
  ['gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
  ['deflate', promisify<Buffer, ZlibOptions, Buffer>(inflate)],
  ['br', promisify<Buffer, BrotliOptions, Buffer>(brotliDecompress)],
]);

/** Bodies that are unpacked at the same time. Each may become 1 MiB, and zlib has four threads. */
const MAX_UNPACKING = 8;

/**
 * Reads the preferences of a request, and the body of a handler with `@Body()` as JSON. It follows the token bucket, so that
 * a request without a key or a token never has its body read.
 */
@Injectable()
export class JsonBodyInterceptor implements NestInterceptor {
  private readonly partialBodies = new BodyMemoryLimit();
  private readonly unpacking = new FairQueue(MAX_UNPACKING);
  private readonly optionsOf = oncePerHandler((context) => ({
    body: bodyOptionsOf(context),
    leftToModule: partsLeftToModule(context, this.modules),
  }));

  constructor(private readonly modules: ModulesContainer) {}

  /** @throws InvalidRequest, PayloadTooLargeException */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> | Promise<Observable<unknown>> {
    if (context.getType() !== 'http') return next.handle();
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    // The rest of the request was broken, and it was refused while its key was checked.
    if (response.writableEnded) throw new InvalidRequest('body', 'syntax');
    if (request.caller) parsePreferences(request, response);
    if (request.isStrict) rejectUnknownFields(context, 'QUERY', request.query);
    const { body, leftToModule } = this.optionsOf(context);
    const isSafe = SAFE_METHODS.includes(request.method);
    // A write without a body must not happen either before it has arrived whole and well-formed.
    const isWrite = request.caller && !isSafe;
    const isRead = body ? !(body.isImplicit && isSafe) : isWrite;
    if (!isRead) {
      leaveParts(request, leftToModule);
      return next.handle();
    }
    if (body?.takesForms && request.is(FORM_TYPE)) {
      acceptForm(request, response);
      return next.handle();
    }
    return this.read(request, response, body).then(() => {
      if (request.isStrict && body) rejectUnknownFields(context, 'BODY', request.body as object);
      leaveParts(request, leftToModule);
      return next.handle();
    });
  }

  private async read(request: Request, response: Response, options?: BodyOptions): Promise<void> {
    // Middleware of a module has read it.
    if (options && request.body !== undefined) return;
    const bytes = await this.collect(request, response);
    if (!options) return;
    // Node keeps a request until the next one on its connection.
    response.once('finish', () => (request.body = undefined));
    if (options.isRaw) {
      const raw = await this.unpack(request, response, bytes);
      Object.assign(request, { rawBody: raw });
      if (options.isImplicit) return;
    }
    if (request.is(JSON_TYPES)) request.body = parse(await this.unpack(request, response, bytes), options);
    else if (options.allOptional && bytes.length > 0) throw new InvalidRequest('header Content-Type', 'unsupported');
    else {
      request.body = {};
      request.hasIgnoredBody = bytes.length > 0;
    }
  }

  /** The bytes as they arrive, in one piece: thousands of tiny ones take far more memory than they have bytes. */
  private async collect(request: Request, response: Response): Promise<Buffer> {
    if (request.complete && request.readableLength === 0) return EMPTY;
    let buffer: Buffer = EMPTY;
    let length = 0;
    const pendingBody = this.partialBodies.add(request, () => {
      if (!response.headersSent) sendError(response, 408);
      buffer = EMPTY; // now, as the client may take its time to read the response
    });
    try {
      await readBody(request, response, (chunk) => {
        if (response.writableEnded) return;
        if (buffer.length < length + chunk.length) {
          const larger = Buffer.allocUnsafe(Math.max(2 * buffer.length, length + chunk.length));
          this.partialBodies.hold(pendingBody, larger.length - buffer.length);
          if (response.writableEnded) return; // this body was the one to be dropped
          buffer.copy(larger);
          buffer = larger;
        }
        length += chunk.copy(buffer, length);
      });
      return buffer.subarray(0, length);
    } finally {
      buffer = EMPTY; // the request keeps its listeners, and the connection keeps the request
      this.partialBodies.release(pendingBody);
    }
  }

  private async unpack(request: Request, response: Response, bytes: Buffer): Promise<Buffer> {
    const encoding = encodingOf(request);
    if (encoding === undefined) return bytes;
    const decompress = DECOMPRESSORS.get(encoding);
    if (!decompress) throw new InvalidRequest('header Content-Encoding', 'unsupported');
    return this.unpacking.run(request.caller?.organizationId, async () => {
      // Its client left while others were unpacked.
      if (response.destroyed) throw new InvalidRequest('body', 'syntax');
      try {
        return await decompress(bytes, { maxOutputLength: MAX_BODY_BYTES });
      } catch (error) {
        const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
        throw isTooLarge ? new PayloadTooLargeException() : new InvalidRequest('body', 'syntax');
      }
    });
  }
}

/** Leaves a form to the interceptor of the handler that reads it. */
function acceptForm(request: Request, response: Response): void {
  // The bytes are not there to be compared with those of the next request.
  if (request.headers['idempotency-key'] !== undefined) throw new NotReplayable();
  continueBody(request, response);
}

function leaveParts(request: Request, parts: readonly CheckedPart[]): void {
  for (const part of parts) {
    if (part === 'BODY' && isObject(request.body)) leaveToModule(request.body);
    if (part === 'PARAM') leaveToModule(request.params);
    // Express parses the query again each time that it is asked for.
    if (part === 'QUERY') Object.defineProperty(request, 'query', { value: leaveToModule(request.query) });
  }
}

/** Asks a client that waits with its body to send it. */
function continueBody(request: Request, response: Response): void {
  if (request.headers.expect?.toLowerCase() !== '100-continue') return;
  // The connection of a client that waits for it in vain ends with the response: see malformed-requests.ts.
  response.removeHeader('Connection');
  response.writeContinue();
}

/**
 * Reads a body as it arrives, to its end.
 * @throws InvalidRequest when it breaks off, PayloadTooLargeException as soon as that is known
 */
async function readBody(request: Request, response: Response, onChunk: (chunk: Buffer) => void): Promise<void> {
  const isCompressed = encodingOf(request) !== undefined;
  // The unpacked size of a compressed body is not known yet.
  if (!isCompressed && Number(request.headers['content-length']) > MAX_BODY_BYTES) throw new PayloadTooLargeException();
  continueBody(request, response);
  // Compression makes some bodies a little larger.
  const max = isCompressed ? 2 * MAX_BODY_BYTES : MAX_BODY_BYTES;
  let length = 0;
  await new Promise<void>((resolve, reject) => {
    if (request.destroyed) reject(new InvalidRequest('body', 'syntax'));
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > max) reject(new PayloadTooLargeException());
      else onChunk(chunk);
    });
    const onAbort = (): void => {
      if (!request.readableEnded) reject(new InvalidRequest('body', 'syntax'));
    };
    request.once('end', resolve);
    request.once('error', onAbort);
    request.once('close', onAbort);
    // Once a request has its response, Node emits nothing more on it. A response that waits behind others of its
    // connection in turn emits nothing when that is lost, so both are listened to.
    response.once('close', onAbort);
    if (response.destroyed) onAbort();
  });
}

function encodingOf({ headers }: Request): string | undefined {
  const encoding = headers['content-encoding']?.toLowerCase();
  return encoding === '' || encoding === 'identity' ? undefined : encoding;
}

/** In larger bodies nobody is told where a syntax error is: to find it takes about twenty times as long as to parse them. */
const MAX_LOCATED_BYTES = 1 << 17;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** @throws InvalidRequest when the bytes are not UTF-8 or not the JSON that the handler takes, PayloadTooLargeException */
function parse(bytes: Buffer, { accepts }: BodyOptions): object {
  countValues(bytes);
  let body: unknown;
  if (bytes.length === 0) throw new InvalidRequest('body', 'missing');
  try {
    body = JSON.parse(UTF8.decode(bytes));
  } catch {
    const detail = bytes.length > MAX_LOCATED_BYTES ? undefined : `offset ${jsonErrorOffset(bytes)}`;
    throw new InvalidRequest('body', 'syntax', { detail });
  }
  if (typeof body !== 'object' || body === null) throw new InvalidRequest('body', 'type');
  if (accepts !== 'either' && Array.isArray(body) !== (accepts === 'array')) throw new InvalidRequest('body', 'type');
  return body;
}
