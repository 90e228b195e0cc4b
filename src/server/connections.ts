import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Maximum number of requests of a connection that have no response yet. Node.js parses all requests of a read of 64 KiB at
 * once, so that a few hundred connections could start tens of thousands of requests in one turn of the event loop.
 */
export const MAX_UNANSWERED_REQUESTS = 2;

interface Connection {
  unanswered: number;
  /** The response to the last request that was accepted. */
  lastResponse?: ServerResponse;
  isClosing: boolean;
}

/** Limits how many requests of each connection are in progress, and knows the last of them. */
export class Connections {
  private readonly connections = new WeakMap<Socket, Connection>();

  /** @returns false if the request must be ignored, because its connection is closed after the responses that are due */
  accept({ socket }: IncomingMessage, response: ServerResponse): boolean {
    let connection = this.connections.get(socket);
    if (!connection) {
      connection = { unanswered: 0, lastResponse: undefined, isClosing: false };
      this.connections.set(socket, connection);
    }
    if (connection.isClosing) return false;
    if (connection.unanswered === MAX_UNANSWERED_REQUESTS) {
      connection.isClosing = true;
      if (connection.lastResponse) closeAfter(connection.lastResponse);
      return false;
    }
    const accepted = connection;
    accepted.unanswered++;
    accepted.lastResponse = response;
    response.once('close', () => accepted.unanswered--);
    return true;
  }

  /** The response to the last accepted request of a connection. Node.js sends earlier responses first. */
  lastResponse(socket: Socket): ServerResponse | undefined {
    return this.connections.get(socket)?.lastResponse;
  }
}

function closeAfter(response: ServerResponse): void {
  const { socket } = response.req;
  if (response.writableFinished) {
    socket.destroySoon();
    return;
  }
  if (!response.headersSent) response.setHeader('Connection', 'close');
  response.prependOnceListener('finish', () => socket.destroySoon());
}
