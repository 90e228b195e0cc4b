import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A network between the server and PostgreSQL, that can fall silent: nothing is answered, and nothing is closed. */
export class DatabaseProxy {
  /** how many new connections are not answered */
  silentConnections = 0;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  private constructor(private readonly database: URL) {
    this.server = createServer((client) => this.accept(client));
  }

  static async to(databaseUrl: string): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(new URL(databaseUrl));
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  /** The connection string of the database through the proxy. */
  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return Object.assign(new URL(this.database), { host: `127.0.0.1:${port}` }).href;
  }

  /** From now on nothing passes the connections that are open. */
  silenceOpenConnections(): void {
    for (const socket of this.sockets) socket.pause().removeAllListeners('data');
  }

  /** Closes all connections, and refuses new ones. */
  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private accept(client: Socket): void {
    this.watch(client);
    if (this.silentConnections > 0) {
      this.silentConnections--;
      client.resume();
      return;
    }
    const { hostname, port } = this.database;
    const database = this.watch(connect(Number(port || 5432), hostname));
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      from.on('data', (bytes) => to.write(bytes));
      from.once('close', () => to.destroy());
    }
  }

  private watch(socket: Socket): Socket {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.sockets.delete(socket));
    return socket;
  }
}
