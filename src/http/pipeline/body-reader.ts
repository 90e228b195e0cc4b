import { promisify } from 'node:util';
import { brotliDecompress, type BrotliOptions, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import { PayloadTooLargeException } from '@nestjs/common';
import type { Request, Response } from 'express';
import { FairQueue } from '../../data/database/fair-queue';
import { sendError } from '../../errors/error-response';
import { InvalidRequest } from '../../errors/exceptions';
import { BodyMemoryLimit, MAX_BODY_BYTES } from './body-memory-limit';

const EMPTY = Buffer.alloc(0);

const DECOMPRESSORS = new Map([
  ['gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
  ['deflate', promisify<Buffer, ZlibOptions, Buffer>(inflate)],
  ['br', promisify<Buffer, BrotliOptions, Buffer>(brotliDecompress)],
]);

/** Bodies that are unpacked at the same time. Each may become 1 MiB, and zlib has four threads. */
const MAX_UNPACKING = 8;

/** Reads the bytes of bodies. All bodies that have not arrived completely share a limit of memory. */
export class BodyReader {
  private readonly partialBodies = new BodyMemoryLimit();
  private readonly unpacking = new FairQueue(MAX_UNPACKING);

  /**
   * The bytes as they arrive, in one piece: thousands of tiny ones take far more memory than they have bytes.
   * @throws InvalidRequest when the body breaks off, PayloadTooLargeException
   */
  async collect(request: Request, response: Response): Promise<Buffer> {
    if (request.complete && request.readableLength === 0) return EMPTY;
    let buffer: Buffer = EMPTY;
    let length = 0;
    const pendingBody = this.partialBodies.add(request, () => {
      if (!response.headersSent) sendError(response, 408);
      buffer = EMPTY; // now, as the client may take its time to read the response
    });
    try {
      await readToEnd(request, response, (chunk) => {
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

  /** @throws InvalidRequest for an unknown or a broken encoding, PayloadTooLargeException */
  async unpack(request: Request, response: Response, bytes: Buffer): Promise<Buffer> {
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

/** Asks a client that waits with its body to send it. */
export function continueBody(request: Request, response: Response): void {
  if (request.headers.expect?.toLowerCase() !== '100-continue') return;
  // The connection of a client that waits for it in vain ends with the response: see malformed-requests.ts.
  response.removeHeader('Connection');
  response.writeContinue();
}

/** @throws InvalidRequest when the body breaks off, PayloadTooLargeException as soon as that is known */
async function readToEnd(request: Request, response: Response, onChunk: (chunk: Buffer) => void): Promise<void> {
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
