import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { errorBody } from './errors';
import { SECURITY_HEADERS } from './security-headers';

declare module 'express-serve-static-core' {
  interface Request {
    /** names the request in the log and in the answer's X-Request-Id */
    id?: string;
  }
}

/** What every request meets first. */
export function prepareRequest(request: Request, response: Response, next: NextFunction): void {
  nameRequest(request, response);
  for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);
  // HTTP/1.1 demands a Host header.
  if (request.headers.host === undefined && request.httpVersion === '1.1') {
    response.set({ Connection: 'close', 'Content-Type': 'application/json; charset=utf-8' });
    response.status(400).send(errorBody(400));
    return;
  }
  if (request.url.includes('%')) tolerateBrokenEscapes(request);
  next();
}

/** Keeps a sound `X-Request-Id`, makes one otherwise. */
function nameRequest(request: Request, response: Response): void {
  const given = request.headers['x-request-id'];
  request.id = typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
  response.setHeader('X-Request-Id', request.id);
}

/**
 * The router refuses a path with broken percent-encoding before any guard has seen the request. So that also such a
 * request needs a key, its stray percent signs are taken literally: the segment is then an unknown path or a bad id.
 */
function tolerateBrokenEscapes(request: Request): void {
  const [path = '', ...query] = request.url.split('?');
  request.url = [path.split('/').map(decodable).join('/'), ...query].join('?');
}

function decodable(segment: string): string {
  try {
    decodeURIComponent(segment);
    return segment;
  } catch {
    return segment.replaceAll('%', '%25');
  }
}
