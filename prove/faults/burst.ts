import { connect, type Socket } from 'node:net';

/** Many kept connections to one server, on which one request each is sent at the same moment. */
export class Burst {
  private sockets: Socket[] = [];

  constructor(
    private readonly port: number,
    private readonly size: number,
  ) {}

  /** Opens what is not open (any more). */
  async connect(): Promise<void> {
    this.sockets = this.sockets.filter((socket) => socket.writable && !socket.destroyed);
    const missing = Array.from({ length: this.size - this.sockets.length }, () => opened(this.port));
    this.sockets.push(...(await Promise.all(missing)));
  }

  /** @returns the status of each answer, or the error of the network */
  fire(path: string, key: string): Promise<string[]> {
    const bytes = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nx-api-key: ${key}\r\n\r\n`;
    return Promise.all(this.sockets.map((socket) => exchange(socket, bytes)));
  }

  end(): void {
    for (const socket of this.sockets) socket.destroy();
  }
}

function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      socket.on('error', () => undefined);
      resolve(socket);
    });
  });
}

function exchange(socket: Socket, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const read = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (end >= 0 && text.length >= end + 4 + length) finish(text.slice(9, 12));
    };
    const lost = (): void => finish('ECONNRESET');
    const finish = (status: string): void => {
      socket.off('data', read).off('close', lost);
      resolve(status);
    };
    socket.on('data', read).once('close', lost);
    socket.write(bytes);
  });
}
