import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes of answers that may wait for their clients in a process. */
const MOST = 256 << 20;

/**
 * Connections whose clients have not taken their answers yet. These are in memory, which is everybody's: a client that takes
 * nothing for a while is cut off and, when they are too many bytes together, so is the one that has taken longest.
 */
export class UntakenAnswers {
  private bytes = 0;
  /** bytes that wait on each, in the order in which the first of them were given */
  private readonly connections = new Map<Socket, number>();

  /** @param patience milliseconds without a byte that is taken */
  constructor(
    private readonly patience: number,
    private readonly most = MOST,
  ) {}

  /** To be told of every answer; most have left the process by then. */
  watch(answer: ServerResponse): void {
    const bytes = answer.writableLength;
    const { socket } = answer.req;
    if (bytes === 0 || socket.destroyed) return;
    this.count(socket, bytes);
    answer.once('close', () => {
      if (this.connections.has(socket)) this.count(socket, -bytes);
    });
    answer.setTimeout(this.patience, () => socket.destroy());
    for (const oldest of this.connections.keys()) {
      if (this.bytes <= this.most) break;
      this.gone(oldest);
      oldest.destroy();
    }
  }

  /** To be told of every connection that is closed: Node tells only the answer that was under way. */
  gone(socket: Socket): void {
    this.count(socket, -(this.connections.get(socket) ?? 0));
  }

  private count(socket: Socket, bytes: number): void {
    const all = (this.connections.get(socket) ?? 0) + bytes;
    if (all === 0) this.connections.delete(socket);
    else this.connections.set(socket, all);
    this.bytes += bytes;
  }
}
