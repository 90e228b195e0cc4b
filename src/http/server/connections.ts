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
  lastResponse: ServerResponse;
}

/** Knows how many requests of each connection are in progress, and the last of them. */
export class Connections {
  private readonly connections = new WeakMap<Socket, Connection>();

  add({ socket }: IncomingMessage, response: ServerResponse): void {
    const connection = this.connections.get(socket) ?? { unanswered: 0, lastResponse: response };
    this.connections.set(socket, connection);
    connection.unanswered++;
    connection.lastResponse = response;
    response.once('close', () => connection.unanswered--);
  }

  hasMaximum(socket: Socket): boolean {
    return this.connections.get(socket)?.unanswered === MAX_UNANSWERED_REQUESTS;
  }

  /** The response to the last accepted request of a connection. Node.js sends earlier responses first. */
  lastResponse(socket: Socket): ServerResponse | undefined {
    return this.connections.get(socket)?.lastResponse;
  }
}
