import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { errorBody } from './errors';

declare module 'express-serve-static-core' {
  interface Request {
    /** names the request in the log and in the answer's X-Request-Id */
    id?: string;
  }
}

/** Keeps a sound `X-Request-Id`, makes one otherwise. */
export function nameRequest(request: Request, response: Response, next: NextFunction): void {
  const given = request.headers['x-request-id'];
  request.id = typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
  response.setHeader('X-Request-Id', request.id);
  next();
}

/** HTTP/1.1 demands a Host header. */
export function refuseMissingHost(request: Request, response: Response, next: NextFunction): void {
  if (request.headers.host !== undefined || request.httpVersion !== '1.1') {
    next();
    return;
  }
  response.set({ Connection: 'close', 'Content-Type': 'application/json; charset=utf-8' });
  response.status(400).send(errorBody(400));
}

/**
 * The router refuses a path with broken percent-encoding before any guard has seen the request. So that also such a
 * request needs a key, its stray percent signs are taken literally: the segment is then an unknown path or a bad id.
 */
export function tolerateBrokenEscapes(request: Request, _response: Response, next: NextFunction): void {
  const [path = '', ...query] = request.url.split('?');
  if (path.includes('%')) {
    request.url = [path.split('/').map(decodable).join('/'), ...query].join('?');
  }
  next();
}

function decodable(segment: string): string {
  try {
    decodeURIComponent(segment);
    return segment;
  } catch {
    return segment.replaceAll('%', '%25');
  }
}
