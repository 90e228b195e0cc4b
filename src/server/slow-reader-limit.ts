import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LinkedList, type LinkedEntry } from '../collections/linked-list';

/** Maximum size in bytes of all unsent responses of the process. */
const MAX_UNSENT_BYTES = 256 << 20;

interface SlowConnection {
  readonly socket: Socket;
  /** The number of its unsent bytes. */
  unsent: number;
  entry?: LinkedEntry<SlowConnection>;
}

/**
 * Unsent responses count against a shared memory limit. When it is exceeded, the connection that has waited longest is
 * closed. A connection whose client reads nothing for a while is closed, too.
 */
export class SlowReaderLimit {
  private bytes = 0;
  /** The connections with unsent bytes. The one that has waited longest is first. */
  private readonly waiting = new LinkedList<SlowConnection>();
  private readonly connections = new WeakMap<Socket, SlowConnection>();

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
    const connection = this.connectionOf(socket);
    this.add(connection, unsent);
    response.setTimeout(this.timeoutMs, () => socket.destroy());
    // The next response on the connection may take longer. Node sets the timeout of an idle connection after this listener.
    response.prependOnceListener('finish', () => {
      socket.setTimeout(0);
      this.add(connection, -unsent);
    });
    for (const slowest of this.waiting) {
      if (this.bytes <= this.maxBytes) break;
      this.add(slowest, -Infinity);
      slowest.socket.destroy();
    }
  }

  /** Waits until the clients have read every response, or are gone. */
  async waitUntilSent(): Promise<void> {
    while (this.waiting.size > 0) {
      await Promise.race([...this.waiting].map(({ socket }) => once(socket, 'close')));
    }
  }

  private connectionOf(socket: Socket): SlowConnection {
    const known = this.connections.get(socket);
    if (known) return known;
    const connection: SlowConnection = { socket, unsent: 0 };
    this.connections.set(socket, connection);
    socket.once('close', () => this.add(connection, -Infinity));
    return connection;
  }

  private add(connection: SlowConnection, bytes: number): void {
    const before = connection.unsent;
    connection.unsent = Math.max(0, before + bytes);
    this.bytes += connection.unsent - before;
    if (connection.unsent > 0) {
      connection.entry ??= this.waiting.add(connection);
      return;
    }
    if (connection.entry) this.waiting.remove(connection.entry);
    connection.entry = undefined;
  }
}
