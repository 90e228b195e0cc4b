import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { refuse } from './errors';
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
  const refusal = refusalOf(request);
  if (refusal !== undefined) {
    refuse(response, refusal);
    return;
  }
  // Node reads no further behind an offer of another protocol, so that a request which follows would be lost. It is one
  // only if Connection says so; behind any other, requests are read and carried out.
  const { connection = '', upgrade } = request.headers;
  if (upgrade !== undefined && UPGRADE.test(connection)) response.setHeader('Connection', 'close');
  if (request.url.includes('%')) tolerateBrokenEscapes(request);
  next();
}

/** among the options of a Connection header */
const UPGRADE = /(^|,)[ \t]*upgrade[ \t]*(,|$)/i;

/** Headers that are looked at. Node leaves out all that come later, and a request is not what it seems without them. */
export const MOST_HEADERS = 1000;

function refusalOf({ headers, httpVersion, httpVersionMajor, rawHeaders }: Request): number | undefined {
  // Node's parser lets HTTP/0.9 and a line that says HTTP/2.0 pass.
  if (httpVersionMajor !== 1) return 400;
  if (rawHeaders.length >= 2 * MOST_HEADERS) return 431;
  if (headers.host === undefined) return httpVersion === '1.1' ? 400 : undefined;
  // Of two hosts, a proxy in front may have gone by the one that is not seen here.
  return hasTwoHosts(rawHeaders) ? 400 : undefined;
}

function hasTwoHosts(rawHeaders: string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1;
}

/** The form of an `X-Request-Id` that is taken up. */
export const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Keeps a sound `X-Request-Id`, makes one otherwise. */
function nameRequest(request: Request, response: Response): void {
  const given = request.headers['x-request-id'];
  request.id = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
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
