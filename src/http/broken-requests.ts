import { randomUUID } from 'node:crypto';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { endWith } from './connections';
import { errorBody, errorText, JSON_TYPE, refuse } from './errors';
import { MOST_HEADERS } from './request';
import { SECURITY_HEADERS } from './security-headers';

const STATUS: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/** the answer to the request that was read last on a connection; those before it are answered earlier */
type Last = WeakMap<Socket, ServerResponse>;

/** What Node answers by itself, without a body or in plain text, becomes a JSON error like any other. */
export function answerBrokenRequests(server: Server): void {
  const last: Last = new WeakMap();
  const refused = new WeakSet<Socket>();
  server.prependListener('request', (request, response) => void last.set(request.socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // What follows a broken request is broken too, and has been answered; what follows a last one is not looked at.
    if (refused.has(socket) || error.code === 'HPE_CLOSED_CONNECTION') return;
    refused.add(socket);
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else refuseOn(socket, last.get(socket), STATUS[error.code ?? ''] ?? 400);
  });
  // The target of CONNECT is no path, and this is no proxy. Node would close the connection in silence.
  server.on('connect', (_, socket: Socket) => {
    socket.on('error', () => socket.destroy());
    refuseOn(socket, last.get(socket), 400);
  });
  server.maxHeadersCount = MOST_HEADERS;
  // Node would refuse a request without a Host header in silence; prepareRequest says why. And it would not answer a
  // client that closes its side of the connection once it has sent its request.
  Object.assign(server, { requireHostHeader: false, httpAllowHalfOpen: true });
  // The body guard says 100 Continue, once there are a key and a token.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/** Answers in its place: after the sound requests before it, and once. */
function refuseOn(socket: Socket, last: ServerResponse | undefined, status: number): void {
  if (last && !last.req.complete && !last.headersSent) {
    refuse(last, status);
    return;
  }
  const isAnswered = last && !last.req.complete;
  const bytes = isAnswered ? '' : answerOf(status);
  if (!last || last.writableFinished) endWith(socket, bytes);
  // before Node's own listener, which closes the connection of a client that sends no more
  else last.prependOnceListener('finish', () => endWith(socket, bytes));
}

/** The bytes of an answer to what never became a request. */
function answerOf(status: number): string {
  const body = JSON.stringify(errorBody(status));
  const headers = [
    ...SECURITY_HEADERS,
    ['X-Request-Id', randomUUID()],
    ['Content-Type', JSON_TYPE],
    ['Content-Length', String(Buffer.byteLength(body))],
    ['Connection', 'close'],
  ];
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${errorText(status)}`, ...lines, '', body].join('\r\n');
}
