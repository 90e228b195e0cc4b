import type { Request, Response } from 'express';
import { FAULT_HEADER, FAULT_REASON_HEADER } from '../errors/error-response';
import type { Log } from './log';

/** What is known about a request after its response has ended. */
interface ObservedRequest {
  readonly method: string;
  /** The pattern of the route, which holds no ID (`/api/v0/leads/:leadId`), or `*` for a path without a route. */
  readonly route: string;
  /** The status of the response; 499 if the client disconnected before it had received all of it. */
  readonly status: number;
  readonly milliseconds: number;
  /** The part of the request for which it was rejected, as its response names it. */
  readonly fault?: unknown;
  /** The reason for the rejection, as its response names it. */
  readonly reason?: unknown;
  /** The text of an exception that a module threw. */
  readonly error?: string;
}

export type Observer = (observed: ObservedRequest, request: Request) => void;

/** The status that nginx uses for a client that disconnected before it got its response. */
const CLIENT_CLOSED_STATUS = 499;

/** Notifies the observers of a request when its response has been sent or its client has disconnected. */
export function observeRequest(request: Request, response: Response, observers: readonly Observer[]): void {
  const startedAt = performance.now();
  let isSent = false;
  // A closed connection also emits `finish`, as if everything had been sent.
  response.once('finish', () => {
    isSent = !request.socket.destroyed;
  });
  response.once('close', () => {
    const fault = response.getHeader(FAULT_HEADER);
    const observed = {
      method: request.method,
      route: routeOf(request),
      status: isSent ? response.statusCode : CLIENT_CLOSED_STATUS,
      milliseconds: performance.now() - startedAt,
      fault,
      reason: fault === undefined ? undefined : response.getHeader(FAULT_REASON_HEADER),
      error: response.locals?.error,
    };
    for (const observer of observers) observer(observed, request);
  });
}

/** The pattern of the route that handled a request; `*` if none did. */
function routeOf({ route }: Pick<Request, 'route'>): string {
  const { path } = (route ?? {}) as { path?: string };
  return path === undefined || path.includes('*') ? '*' : path;
}

/** Probes request these paths every few seconds, and the metrics report the results, so they are logged only as `debug`. */
const PROBE_PREFIX = '/health/';

function levelOf(status: number, route: string): 'error' | 'debug' | 'info' {
  if (status >= 500) return 'error';
  return route.startsWith(PROBE_PREFIX) ? 'debug' : 'info';
}

/**
 * Logs one line per request. It says whose request it was, but not what was requested or returned, because that is personal
 * data.
 */
export const createRequestLogger =
  (log: Log): Observer =>
  ({ method, route, status, milliseconds, fault, reason, error }, { id, caller }) => {
    log[levelOf(status, route)]({
      requestId: id,
      method,
      route,
      status,
      fault,
      reason,
      error,
      durationMs: Math.round(milliseconds * 1000) / 1000,
      organizationId: caller?.organizationId,
      keyId: caller?.keyId,
    });
  };
