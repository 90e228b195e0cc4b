import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface ProxyOptions {
  /** of the server; by default on this machine */
  host?: string;
  /** whether the client is cut off at the first byte of a reply */
  cutsReplies?: boolean;
}

/** A network between a client and a server: connections pass, are cut, or fall silent. */
export class Proxy {
  /** replies that were cut off */
  cut = 0;
  /** connections so far */
  accepted = 0;
  /** how many new connections are not answered */
  silentConnections = 0;
  private readonly open = new Set<Socket>();
  private readonly listener: Server = createServer((client) => this.join(client));

  private constructor(
    private target: number,
    private readonly options: ProxyOptions,
  ) {}

  static async to(target: number, options: ProxyOptions = {}): Promise<Proxy> {
    const proxy = new Proxy(target, options);
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

  /** From now on nothing passes the connections that are open, and none of them is closed. */
  silenceOpenConnections(): void {
    for (const socket of this.open) socket.unpipe().pause();
  }

  close(): void {
    this.listener.close();
    this.cutAll();
  }

  private cutAll(): void {
    for (const socket of this.open) socket.destroy();
  }

  private join(client: Socket): void {
    this.watch(client);
    this.accepted += 1;
    if (this.silentConnections > 0) {
      this.silentConnections--;
      client.resume();
      return;
    }
    const server = this.watch(connect(this.target, this.options.host ?? '127.0.0.1'));
    client.once('close', () => server.destroy()).pipe(server);
    server.once('close', () => client.destroy());
    if (!this.options.cutsReplies) server.pipe(client);
    else {
      server.once('data', () => {
        this.cut += 1;
        client.resetAndDestroy();
      });
    }
  }

  private watch(socket: Socket): Socket {
    this.open.add(socket);
    socket.once('close', () => this.open.delete(socket));
    return socket.setNoDelay(true).on('error', () => undefined);
  }
}
