import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { runAtEnd } from '../jest/at-the-end';

/** The version of PostgreSQL's protocol, as a startup message begins with it. */
const PROTOCOL = 196_608;
/** The first bytes of what a client sends instead of a startup message, to ask for TLS. */
const TLS_REQUEST = 80_877_103;
const AUTHENTICATION = 'R'.charCodeAt(0);
const READY = 'Z'.charCodeAt(0);

interface PoolerOptions {
  /** Whether all clients share one connection, as in the transaction mode of a pooler with one connection free. */
  isShared?: boolean;
}

/** The startup message of a client without its settings: a pooler with `ignore_startup_parameters` drops them. */
function withoutSettings(message: Buffer): Buffer {
  const fields = message.subarray(8).toString().split('\0');
  const kept: string[] = [];
  for (let n = 0; n + 1 < fields.length && fields[n] !== ''; n += 2) {
    if (['user', 'database', 'client_encoding'].includes(fields[n] ?? ''))
      kept.push(fields[n] ?? '', fields[n + 1] ?? '');
  }
  const text = Buffer.from(`${kept.join('\0')}\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(text.length + 8, 0);
  head.writeInt32BE(PROTOCOL, 4);
  return Buffer.concat([head, text]);
}

/** What PostgreSQL sends once it knows the client, up to the point where it is ready. */
function greetingIn(bytes: Buffer): Buffer | undefined {
  let start: number | undefined;
  for (let at = 0; at + 5 <= bytes.length;) {
    const length = bytes.readInt32BE(at + 1) + 1;
    if (at + length > bytes.length) return undefined;
    if (bytes[at] === AUTHENTICATION && bytes.readInt32BE(at + 5) === 0) start = at;
    if (bytes[at] === READY) return start === undefined ? undefined : bytes.subarray(start, at + length);
    at += length;
  }
  return undefined;
}

/** A pooler before the PostgreSQL of a URL. @returns the URL of the same database through it */
export async function startPooler(url: string, { isShared = false }: PoolerOptions = {}): Promise<string> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const watch = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => undefined);
  };
  let shared: { server: Socket; greeting: Buffer; client?: Socket } | undefined;
  const join = (client: Socket, startup: Buffer): void => {
    if (shared) {
      client.on('data', (bytes: Buffer) => {
        if (!shared || bytes[0] === 'X'.charCodeAt(0)) return; // a client that leaves ends nothing
        shared.client = client;
        shared.server.write(bytes);
      });
      client.write(shared.greeting);
      return;
    }
    const server = watch(connect(Number(port || 5432), hostname));
    let received = Buffer.alloc(0);
    server.write(isShared ? startup : withoutSettings(startup));
    client.on('data', (bytes: Buffer) => {
      if (shared) shared.client = client;
      server.write(bytes);
    });
    server.on('data', (bytes: Buffer) => {
      if (isShared && !shared) {
        received = Buffer.concat([received, bytes]);
        const greeting = greetingIn(received);
        if (greeting) shared = { server, greeting, client };
      }
      (shared?.client ?? client).write(bytes);
    });
    server.once('close', () => client.destroy());
  };
  const listener = createServer((client) => {
    watch(client).once('data', function start(bytes: Buffer) {
      if (bytes.readInt32BE(4) !== TLS_REQUEST) return join(client, bytes);
      client.write('N');
      client.once('data', start);
    });
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  runAtEnd(async () => {
    listener.close();
    for (const socket of sockets) socket.destroy();
  });
  return Object.assign(new URL(url), { host: `127.0.0.1:${(listener.address() as AddressInfo).port}` }).href;
}
