import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { errorBody, errorText, JSON_TYPE, sendError } from '../../errors/error-response';
import type { Connections } from './connections';
import { SECURITY_HEADERS } from './security-headers';

const STATUS_BY_ERROR_CODE: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/**
 * How long to keep a rejected connection open. Closing it while the client is still sending would reset it and lose the
 * response.
 */
const LINGER_TIMEOUT_MS = 2_000;

/** Responds in JSON where Node would respond in plain text or not at all. */
export function handleMalformedRequests(server: Server, connections: Connections): void {
  const rejectedSockets = new WeakSet<Socket>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // The parser fails again on whatever follows a malformed request.
    if (rejectedSockets.has(socket) || error.code === 'HPE_CLOSED_CONNECTION') return;
    rejectedSockets.add(socket);
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else rejectOnSocket(socket, connections.lastResponse(socket), STATUS_BY_ERROR_CODE[error.code ?? ''] ?? 400);
  });
  const takeOver = ({ socket }: IncomingMessage, bytes = ''): void => {
    const last = connections.lastResponse(socket);
    // Node.js has removed its own listeners.
    for (const event of ['error', 'timeout']) socket.on(event, () => socket.destroy());
    socket.resume();
    if (!bytes && last && !last.headersSent) last.setHeader('Connection', 'close');
    endAfter(last, socket, bytes);
  };
  server.on('connect', (request) => takeOver(request, rawResponse(400)));
  // A request beyond what a connection may have in progress: see express-adapter.ts.
  server.on('upgrade', (request) => takeOver(request));
  // body-reader.ts sends 100 Continue. After any other response the client may send either its body or the next
  // request.
  server.on('checkContinue', (request, response) => {
    response.setHeader('Connection', 'close');
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // A client may close its side of the connection as soon as it has sent its request.
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** Rejects a request that was not read to its end, after the responses to all requests before it. */
function rejectOnSocket(socket: Socket, last: ServerResponse | undefined, status: number): void {
  const isPartOfLast = last !== undefined && !last.req.complete;
  if (isPartOfLast && !last.headersSent) {
    last.setHeader('Connection', 'close');
    sendError(last, status, status === 400 ? { fault: 'body', reason: 'syntax' } : undefined);
    return;
  }
  endAfter(last, socket, isPartOfLast ? '' : rawResponse(status));
}

/** Sends bytes after a response, and closes the connection. */
function endAfter(last: ServerResponse | undefined, socket: Socket, bytes: string): void {
  const end = (): void => {
    socket.end(bytes);
    const timer = setTimeout(() => socket.destroy(), LINGER_TIMEOUT_MS).unref();
    socket.once('close', () => clearTimeout(timer));
  };
  if (!last || last.writableFinished) end();
  else last.prependOnceListener('finish', end); // before Node's own listener, which may close the connection
}

/** The bytes of a response to a request that could not be parsed. */
function rawResponse(status: number): string {
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
