import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum size in bytes of all unsent responses of the process. */
const MAX_UNSENT_BYTES = 256 << 20;

/**
 * Unsent responses count against a shared memory limit. Over it, the connection that has waited longest is closed; so is one
 * whose client reads nothing for a while.
 */
export class SlowReaderLimit {
  private bytes = 0;
  /** The number of unsent bytes by connection. The connection that has waited longest is first. */
  private readonly connections = new Map<Socket, number>();
  private readonly watchedSockets = new WeakSet<Socket>();

  constructor(
    private readonly timeoutMs: number,
    private readonly maxBytes = MAX_UNSENT_BYTES,
  ) {}

  /**
   * Call this at the end of each response, when most have no unsent bytes. A response that is sent in parts passes its
   * number of unsent bytes.
   */
  watch(response: ServerResponse, unsent = response.writableLength): void {
    const { socket } = response.req;
    if (unsent === 0 || socket.destroyed) return;
    if (!this.watchedSockets.has(socket)) socket.once('close', () => this.add(socket, -Infinity));
    this.watchedSockets.add(socket);
    this.add(socket, unsent);
    response.setTimeout(this.timeoutMs, () => socket.destroy());
    // The next response on the connection may take longer. Node sets the timeout of an idle connection after this listener.
    response.prependOnceListener('finish', () => {
      socket.setTimeout(0);
      this.add(socket, -unsent);
    });
    for (const slowest of this.connections.keys()) {
      if (this.bytes <= this.maxBytes) break;
      this.add(slowest, -Infinity);
      slowest.destroy();
    }
  }

  /** Waits until the clients have read every response, or are gone. */
  async waitUntilSent(): Promise<void> {
    while (this.connections.size > 0) {
      await Promise.race([...this.connections.keys()].map((socket) => once(socket, 'close')));
    }
  }

  private add(socket: Socket, bytes: number): void {
    const before = this.connections.get(socket) ?? 0;
    const after = Math.max(0, before + bytes);
    this.bytes += after - before;
    if (after > 0) this.connections.set(socket, after);
    else this.connections.delete(socket);
  }
}
