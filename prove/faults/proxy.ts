import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * What becomes of the connections through a proxy: they pass; the reply is cut off (the request arrives, and the client
 * is hung up on when the first byte of the reply is there); or it is a black hole: connections are accepted, nothing
 * passes, nobody is told.
 */
export type Way = 'pass' | 'cut-reply' | 'black-hole';

/** A network in between, which can be made worse at any moment. */
export class Proxy {
  /** replies that were cut off */
  cut = 0;
  private way: Way = 'pass';
  private readonly pairs = new Set<{ client: Socket; server: Socket; isLost: boolean }>();
  private readonly listener: Server;

  private constructor(private readonly target: number) {
    this.listener = createServer((client) => this.join(client));
  }

  static async to(target: number, way: Way = 'pass'): Promise<Proxy> {
    const proxy = new Proxy(target);
    proxy.way = way;
    proxy.listener.listen(0, '127.0.0.1');
    await once(proxy.listener, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.listener.address() as AddressInfo).port;
  }

  /** From now on. What was lost in a black hole stays lost, and its connection with it. */
  set(way: Way): void {
    this.way = way;
    for (const pair of this.pairs) if (way === 'black-hole') pair.isLost = true;
  }

  close(): void {
    this.listener.close();
    for (const { client, server } of this.pairs) {
      client.destroy();
      server.destroy();
    }
  }

  private join(client: Socket): void {
    const server = connect(this.target, '127.0.0.1');
    const pair = { client, server, isLost: this.way === 'black-hole' };
    this.pairs.add(pair);
    for (const socket of [client, server]) socket.setNoDelay(true).on('error', () => undefined);
    client.on('data', (bytes: Buffer) => void (pair.isLost || server.write(bytes)));
    server.on('data', (bytes: Buffer) => {
      if (pair.isLost) return;
      if (this.way === 'pass') client.write(bytes);
      else if (!client.destroyed) {
        this.cut += 1;
        client.resetAndDestroy();
      }
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.once('close', () => {
        this.pairs.delete(pair);
        // Behind a black hole nobody hears of the other side's end.
        if (!pair.isLost) other.destroy();
      });
    }
  }
}
