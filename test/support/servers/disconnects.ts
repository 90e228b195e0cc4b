import { once } from 'node:events';
import type { Socket } from 'node:net';
import { leadInput } from '../builders';
import { openConnection } from '../connection';

/** A way in which a client leaves in the middle of a request. */
export interface Disconnect {
  name: string;
  /** What is sent before. */
  bytes: (key: string) => string;
  leave: (socket: Socket) => unknown;
}

const halfClose: Disconnect['leave'] = (socket) => socket.end();
const reset: Disconnect['leave'] = (socket) => socket.resetAndDestroy();
const close: Disconnect['leave'] = (socket) => socket.destroy();
const breakFraming: Disconnect['leave'] = (socket) => socket.end('no chunk\r\n');

const head = (line: string, key: string, headers: string): string =>
  `${line} HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nContent-Type: application/json\r\n${headers}\r\n`;
const post = (key: string, headers: string): string => head('POST /api/v0/leads', key, headers);
const list = (key: string, headers = ''): string => head('GET /api/v0/leads', key, headers);
const partOfBody = (key: string): string => `${post(key, 'Content-Length: 40000\r\n')}{${' '.repeat(20_000)}`;

function wholeBody(key: string): string {
  const body = JSON.stringify(leadInput());
  return `${post(key, `Content-Length: ${Buffer.byteLength(body)}\r\n`)}${body}`;
}

const compressed = (key: string): string =>
  `${post(key, 'Content-Encoding: gzip\r\nContent-Length: 40000\r\n')}${'x'.repeat(20_000)}`;

/** Every way; the last one needs a server that simulates faults. */
export const DISCONNECTS: Disconnect[] = [
  { name: 'in the middle of its body, and waits for the response', bytes: partOfBody, leave: halfClose },
  { name: 'in the middle of its body', bytes: partOfBody, leave: close },
  { name: 'in the middle of its body, with a reset', bytes: partOfBody, leave: reset },
  { name: 'before its body', bytes: (key) => post(key, 'Content-Length: 40000\r\n'), leave: halfClose },
  {
    name: 'in the middle of a chunk',
    bytes: (key) => `${post(key, 'Transfer-Encoding: chunked\r\n')}5\r\n{`,
    leave: reset,
  },
  {
    name: 'with a broken chunk',
    bytes: (key) => `${post(key, 'Transfer-Encoding: chunked\r\n')}1\r\n{\r\n`,
    leave: breakFraming,
  },
  { name: 'in the middle of a compressed body', bytes: compressed, leave: halfClose },
  {
    name: 'instead of sending the body that it announced',
    bytes: (key) => post(key, 'Expect: 100-continue\r\nContent-Length: 40000\r\n'),
    leave: halfClose,
  },
  {
    name: 'in the middle of a body behind another request',
    bytes: (key) => `${list(key)}${partOfBody(key)}`,
    leave: halfClose,
  },
  {
    name: 'in the middle of a body behind another request, with a reset',
    bytes: (key) => `${list(key)}${partOfBody(key)}`,
    leave: reset,
  },
  { name: 'before its response', bytes: wholeBody, leave: reset },
  { name: 'before the response to a read', bytes: (key) => list(key), leave: reset },
  {
    name: 'while its response is delayed',
    bytes: (key) => list(key, 'Lanyard-Simulate: delay=30000\r\n'),
    leave: reset,
  },
];

/** A client that leaves once the condition holds. Resolves when its connection is closed. */
export async function disconnect(
  address: string,
  key: string,
  { bytes, leave }: Disconnect,
  condition: () => Promise<unknown>,
): Promise<void> {
  const socket = openConnection(address);
  socket.on('error', () => undefined).resume();
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  if (socket.connecting) await Promise.race([once(socket, 'connect'), closed]);
  socket.write(bytes(key));
  await condition();
  leave(socket);
  await closed;
}
