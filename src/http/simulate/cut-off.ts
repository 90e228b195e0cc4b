import type { Response } from 'express';

/** Ends a response, and its connection, after a number of bytes of its body. A shorter response is sent whole. */
export function cutOff(response: Response, bytes: number): void {
  const { write, end } = response;
  let remaining = bytes;
  /** @returns whether the response is longer than the limit */
  const exceedsLimit = (chunk: unknown, encoding: unknown): boolean => {
    const piece = typeof chunk === 'string' ? Buffer.from(chunk, encoding as BufferEncoding) : (chunk as Buffer);
    if (piece.length <= remaining) {
      remaining -= piece.length;
      return false;
    }
    if (!response.headersSent && !response.hasHeader('Content-Length') && !response.chunkedEncoding) {
      response.setHeader('Content-Length', piece.length);
    }
    response.flushHeaders();
    Reflect.apply(write, response, [piece.subarray(0, remaining)]);
    remaining = 0;
    response.socket?.destroySoon();
    return true;
  };
  const isBody = (chunk: unknown): boolean => typeof chunk === 'string' || Buffer.isBuffer(chunk);
  response.write = (...args: unknown[]) =>
    isBody(args[0]) && exceedsLimit(args[0], args[1]) ? false : (Reflect.apply(write, response, args) as boolean);
  response.end = (...args: unknown[]) =>
    isBody(args[0]) && exceedsLimit(args[0], args[1]) ? response : (Reflect.apply(end, response, args) as Response);
}
