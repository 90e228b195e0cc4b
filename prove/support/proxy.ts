import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * What becomes of connections: they pass; or the client is cut off at the first byte of a reply, so that the request
 * arrived; or it is a black hole: connections are accepted, and nothing passes, not even their end.
 */
export type Way = 'pass' | 'cut-reply' | 'black-hole';

/** A network in between, which can be made worse at any moment. */
export class Proxy {
  /** replies that were cut off */
  cut = 0;
  private way: Way = 'pass';
  private readonly pairs = new Set<{ client: Socket; server: Socket; isLost: boolean }>();
  private readonly listener: Server = createServer((client) => this.join(client));

  private constructor(private target: number) {}

  static async to(target: number, way: Way = 'pass'): Promise<Proxy> {
    const proxy = new Proxy(target);
    proxy.way = way;
    await once(proxy.listener.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get port(): number {
    return (this.listener.address() as AddressInfo).port;
  }

  /** From now on. A connection that was in a black hole stays lost. */
  set(way: Way): void {
    this.way = way;
    for (const pair of this.pairs) if (way === 'black-hole') pair.isLost = true;
  }

  /** New connections go to the other server; the open ones are cut. */
  switchTo(target: number): void {
    this.target = target;
    this.cutAll();
  }

  close(): void {
    this.listener.close();
    this.cutAll();
  }

  private cutAll(): void {
    for (const { client, server } of this.pairs) for (const socket of [client, server]) socket.destroy();
  }

  private join(client: Socket): void {
    const server = connect(this.target, '127.0.0.1');
    const pair = { client, server, isLost: this.way === 'black-hole' };
    this.pairs.add(pair);
    const ends = [
      [client, server],
      [server, client],
    ] as const;
    for (const [one, other] of ends) {
      one.setNoDelay(true).on('error', () => undefined);
      one.once('close', () => {
        this.pairs.delete(pair);
        if (!pair.isLost) other.destroy();
      });
    }
    client.on('data', (bytes: Buffer) => void (pair.isLost || server.write(bytes)));
    server.on('data', (bytes: Buffer) => {
      if (pair.isLost) return;
      if (this.way === 'pass') client.write(bytes);
      else if (!client.destroyed) {
        this.cut += 1;
        client.resetAndDestroy();
      }
    });
  }
}
