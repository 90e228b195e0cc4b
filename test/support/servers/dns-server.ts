import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { runAtEnd } from '../jest/at-the-end';

const TYPE_A = 1;
const NAME_ERROR = 3;

/** A DNS server on this machine: it knows the given names, denies others, and never responds to those that hang. */
export class DnsServer {
  /** IPv4 addresses by name. */
  readonly addresses = new Map<string, string>();
  /** Names that were asked for, in order and with repetitions. */
  readonly queries: string[] = [];
  hangs: (name: string) => boolean = () => false;
  private readonly socket: Socket = createSocket('udp4');

  async listen(): Promise<this> {
    this.socket.on('message', (query, client) => this.respond(query, client)).bind(0, '127.0.0.1');
    await once(this.socket, 'listening');
    runAtEnd(() => new Promise<void>((resolve) => this.socket.close(() => resolve())));
    return this;
  }

  get address(): string {
    return `127.0.0.1:${(this.socket.address() as AddressInfo).port}`;
  }

  private respond(query: Buffer, { port, address }: RemoteInfo): void {
    const labels: string[] = [];
    let at = 12;
    for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
      labels.push(query.toString('ascii', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const question = query.subarray(12, at + 5);
    const name = labels.join('.').toLowerCase();
    this.queries.push(name);
    if (this.hangs(name)) return;
    const known = this.addresses.get(name);
    const isAnswered = known !== undefined && query.readUInt16BE(at + 1) === TYPE_A;
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | (known === undefined ? NAME_ERROR : 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(Number(isAnswered), 6);
    const answer = isAnswered
      ? Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4, ...known.split('.').map(Number)])
      : Buffer.alloc(0);
    this.socket.send(Buffer.concat([head, question, answer]), port, address);
  }
}
