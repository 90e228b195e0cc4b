import { ClientRequest, IncomingMessage, request as httpRequest, RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, isIP, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

const { E2E_BASE_URL = '', E2E_BEHIND_PROXY } = process.env;

// Lanyard itself speaks no TLS: behind https stands a proxy, which reads requests first and answers some by its own rules.
const isBehindProxy = /^https:/i.test(E2E_BASE_URL) || Boolean(E2E_BEHIND_PROXY);

/** For what a proxy does not pass on as it stands: broken requests, and what is said of a connection. */
export const itDirect = isBehindProxy ? it.skip : it;

/** Ends the names of such tests. */
export const DIRECT = isBehindProxy ? ' (skipped: a proxy answers)' : '';

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** What a TLS server knows by which certificate to show: never what a test sends as Host, and no address. */
const servernameOf = (url: URL): string => (isIP(hostOf(url)) ? '' : hostOf(url));

/** A request over http or https whose headers go out as they stand, on a connection of its own. */
export function openRequest(
  address: string,
  options: RequestOptions,
  answered: (response: IncomingMessage) => void,
): ClientRequest {
  const url = new URL(address);
  if (url.protocol !== 'https:') return httpRequest(address, { ...options, agent: false }, answered);
  return httpsRequest(address, { ...options, agent: false, servername: servernameOf(url) }, answered);
}

/** A connection for bytes as they stand to the server of an address; what is written before it is open waits. */
export function openConnection(address: string): Socket {
  const url = new URL(address);
  const host = hostOf(url);
  if (url.protocol !== 'https:') return connect(Number(url.port || 80), host);
  return connectTls({ host, port: Number(url.port || 443), servername: servernameOf(url) });
}
