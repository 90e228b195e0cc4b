import { once } from 'node:events';
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
  type RequestOptions,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, isIP, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** What a TLS server knows by which certificate to show: never what a test sends as Host, and no address. */
const servernameOf = (url: URL): string => (isIP(hostOf(url)) ? '' : hostOf(url));

/** A request over http or https whose headers go out as they stand, on a connection of its own. */
export function openRequest(address: string, options: RequestOptions): ClientRequest {
  const url = new URL(address);
  if (url.protocol !== 'https:') return httpRequest(address, { ...options, agent: false });
  return httpsRequest(address, { ...options, agent: false, servername: servernameOf(url) });
}

interface RawAnswer {
  status?: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Sends such a request. @returns its answer as it came: fetch would unpack it, and set headers of its own */
export async function exchange(address: string, options: RequestOptions, body?: string): Promise<RawAnswer> {
  const sent = openRequest(address, options).end(body);
  sent.on('error', () => undefined); // of what is written after the answer
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
}

/** A connection for bytes as they stand to the server of an address; what is written before it is open waits. */
export function openConnection(address: string): Socket {
  const url = new URL(address);
  const host = hostOf(url);
  if (url.protocol !== 'https:') return connect(Number(url.port || 80), host);
  return connectTls({ host, port: Number(url.port || 443), servername: servernameOf(url) });
}

/** All that comes back on a connection until it is closed; errors are the end of it, too. */
export function receiveAll(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1'))).on('error', () => undefined);
  return new Promise((resolve) => socket.once('close', () => resolve(text)));
}
