import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A network in between: connections pass, or the client is cut off at the first byte of a reply. */
export class Proxy {
  /** replies that were cut off */
  cut = 0;
  private readonly open = new Set<Socket>();
  private readonly listener: Server = createServer((client) => this.join(client));

  private constructor(
    private target: number,
    private readonly cutsReplies: boolean,
  ) {}

  static async to(target: number, cutsReplies = false): Promise<Proxy> {
    const proxy = new Proxy(target, cutsReplies);
    await once(proxy.listener.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get port(): number {
    return (this.listener.address() as AddressInfo).port;
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
    for (const socket of this.open) socket.destroy();
  }

  private join(client: Socket): void {
    const server = connect(this.target, '127.0.0.1');
    const ends = [
      [client, server],
      [server, client],
    ] as const;
    for (const [one, other] of ends) {
      this.open.add(one);
      one.setNoDelay(true).on('error', () => undefined);
      one.once('close', () => {
        this.open.delete(one);
        other.destroy();
      });
    }
    client.pipe(server);
    if (!this.cutsReplies) server.pipe(client);
    else {
      server.once('data', () => {
        this.cut += 1;
        client.resetAndDestroy();
      });
    }
  }
}
