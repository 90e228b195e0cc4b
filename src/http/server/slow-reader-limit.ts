import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LinkedList } from '../../data/database/linked-list';

/** Maximum size in bytes of all unsent responses of the process. */
const MAX_UNSENT_BYTES = 256 << 20;

interface UnsentResponse {
  readonly socket: Socket;
  /** Its bytes count no longer. */
  readonly forget: () => void;
}

/**
 * Unsent responses count against a shared memory limit. When it is exceeded, the connection that has waited longest is
 * closed. A connection whose client reads nothing for a while is closed, too.
 */
export class SlowReaderLimit {
  private bytes = 0;
  /** The responses with unsent bytes. The one that has waited longest is first. */
  private readonly waiting = new LinkedList<UnsentResponse>();

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
    this.bytes += unsent;
    const forget = (): void => {
      if (this.waiting.remove(entry)) this.bytes -= unsent;
    };
    const entry = this.waiting.add({ socket, forget });
    socket.once('close', forget);
    response.setTimeout(this.timeoutMs, () => socket.destroy());
    // The next response on the connection may take longer. Node sets the timeout of an idle connection after this listener.
    response.prependOnceListener('finish', () => {
      socket.setTimeout(0);
      socket.off('close', forget);
      forget();
    });
    for (const slowest of this.waiting) {
      if (this.bytes <= this.maxBytes) break;
      slowest.forget();
      slowest.socket.destroy();
    }
  }

  /** Waits until the clients have read every response, or are gone. */
  async waitUntilSent(): Promise<void> {
    while (this.waiting.size > 0) {
      await Promise.race([...this.waiting].map(({ socket }) => once(socket, 'close')));
    }
  }
}
