import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The one address of two servers: what a proxy with a check, or a virtual address, is in production. */
export class Switch {
  private readonly open = new Set<Socket>();
  private readonly server = createServer((client) => this.join(client));

  private constructor(private target: number) {}

  static async start(target: number): Promise<Switch> {
    const one = new Switch(target);
    await once(one.server.listen(0, '127.0.0.1'), 'listening');
    return one;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** New connections go to the other server; the ones that are left are cut. */
  switchTo(target: number): void {
    this.target = target;
    for (const socket of this.open) socket.destroy();
  }

  close(): Promise<void> {
    this.switchTo(0);
    return new Promise((closed) => this.server.close(() => closed()));
  }

  private join(client: Socket): void {
    const server = connect(this.target, '127.0.0.1');
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.open.add(one);
      one.setNoDelay(true);
      one.on('error', () => undefined);
      one.on('close', () => {
        this.open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}
