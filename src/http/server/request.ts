import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { sendError } from '../../errors/error-response';
import type { Fault } from '../../errors/faults';
import { SECURITY_HEADERS } from './security-headers';

declare global {
  namespace Express {
    interface Request {
      /** The ID of the request in the log and in the X-Request-Id of the response. */
      id?: string;
    }
  }
}

/** The form of an `X-Request-Id` that is accepted. */
export const REQUEST_ID_PATTERN = /^[\w.:-]{1,128}$/;

/** Node parses only so many headers and silently drops the rest. */
const MAX_HEADERS = 2000;

/** Matches the option `upgrade` in a Connection header. */
const UPGRADE_OPTION_PATTERN = /(^|,)[ \t]*upgrade[ \t]*(,|$)/i;

/**
 * The first step of every request: it sets the request's ID and the security headers, and rejects what only looks like a
 * request.
 * @param rejectedSockets connections on which a request was rejected that a proxy may read as two requests; whatever follows
 *   on them is ignored
 */
export function prepareRequest(
  rejectedSockets: WeakSet<Socket>,
  request: Request,
  response: Response,
  next: () => void,
): void {
  if (rejectedSockets.has(request.socket)) return;
  const requestedId = request.headers['x-request-id'];
  request.id = typeof requestedId === 'string' && REQUEST_ID_PATTERN.test(requestedId) ? requestedId : randomUUID();
  response.setHeader('X-Request-Id', request.id);
  for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);
  const rejection = rejectionFor(request);
  if (rejection !== undefined) {
    rejectedSockets.add(request.socket);
    response.setHeader('Connection', 'close');
    sendError(response, ...rejection);
    return;
  }
  // Node reads no further request after an offer to switch protocols.
  const { connection = '', upgrade } = request.headers;
  if (upgrade !== undefined && UPGRADE_OPTION_PATTERN.test(connection)) response.setHeader('Connection', 'close');
  if (request.url.includes('%')) encodeStrayPercentSigns(request);
  next();
}

type Rejection = [status: number, fault?: Fault];

function rejectionFor({ httpVersion, httpVersionMajor, rawHeaders, url }: Request): Rejection | undefined {
  // Node's parser accepts HTTP/0.9, and a request line that claims HTTP/2.0.
  if (httpVersionMajor !== 1) return [400, { fault: 'version of HTTP', reason: 'unsupported' }];
  if (rawHeaders.length >= MAX_HEADERS) return [431];
  // Express would respond in HTML to a target that it cannot parse, such as `GET http://[/`.
  if (!url.startsWith('/') && url !== '*' && !URL.canParse(url)) return [400, { fault: 'target', reason: 'syntax' }];
  const hosts = countHosts(rawHeaders);
  // If there are two Host headers, a proxy may have used the other one.
  if (hosts > 1) return [400, { fault: 'header Host', reason: 'duplicate' }];
  if (hosts === 0 && httpVersion === '1.1') return [400, { fault: 'header Host', reason: 'missing' }];
  return undefined;
}

/** @param rawHeaders alternating names and values, as Node.js keeps them */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts;
}

/**
 * The router rejects a path with a broken percent escape before any guard runs. Taking the percent sign literally means that
 * such a path needs a key like any other, and is then an unknown path or an invalid ID.
 */
function encodeStrayPercentSigns(request: Request): void {
  const [path = '', ...query] = request.url.split('?');
  try {
    decodeURIComponent(path);
  } catch {
    request.url = [path.replaceAll('%', '%25'), ...query].join('?');
  }
}

/** How long to wait for the rest of a rejected request. */
const DISCARD_TIMEOUT_MS = 2_000;

/** Reads and discards the rest of a request that a client is still sending. */
export async function discardBody(request: Request): Promise<void> {
  request.resume();
  const timeout = pause(DISCARD_TIMEOUT_MS, undefined, { ref: false });
  await Promise.race([once(request, 'close').catch(() => undefined), timeout]);
}
