import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface Ask {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** from the root of the server */
  path: string;
  key?: string;
  /** sent as JSON; text is sent as it is */
  body?: object | string;
  headers?: Record<string, string>;
  /** a connection for this request alone, in place of a kept one */
  close?: boolean;
  /** keeps the connection, in place of the one that all share */
  agent?: Agent;
  /** milliseconds until the answer counts as never given */
  patience?: number;
}

/** What came back. It never throws: either a status, or the error of the network. */
export interface Answer {
  status?: number;
  headers: IncomingHttpHeaders;
  /** the body, parsed; undefined when it was no JSON */
  body?: { results?: unknown; error?: string };
  /** ECONNREFUSED, ECONNRESET, …; TIMEOUT when nothing came at all */
  error?: string;
  /** milliseconds until the last byte */
  took: number;
}

const kept = new Agent({ keepAlive: true, maxSockets: Infinity });

/** Whether the server may have acted on it although no answer came. */
export const isUnknown = ({ status, error }: Answer): boolean =>
  error === undefined ? (status ?? 0) >= 500 : error !== 'ECONNREFUSED';

export const isAcknowledged = ({ status }: Answer): boolean => status === 200;

/** A request to a server of this machine. */
export function ask(port: number, asked: Ask): Promise<Answer> {
  const { method, path, key, body, headers, close, agent = kept, patience = 30_000 } = asked;
  const started = performance.now();
  const text = typeof body === 'object' ? JSON.stringify(body) : body;
  return new Promise((resolve) => {
    const done = (answer: Partial<Answer>): void =>
      resolve({ headers: {}, ...answer, took: performance.now() - started });
    const sent = request({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: close ? false : agent,
      headers: {
        ...(key ? { 'x-api-key': key } : {}),
        ...(text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        ...headers,
      },
    });
    const late = setTimeout(() => sent.destroy(Object.assign(new Error(), { code: 'TIMEOUT' })), patience);
    const failed = (error: NodeJS.ErrnoException): void => done({ error: error.code ?? error.message });
    sent.once('close', () => clearTimeout(late));
    sent.once('error', failed);
    sent.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', failed);
      response.once('end', () => {
        const { statusCode: status, headers: received } = response;
        done({ status, headers: received, body: parsed(Buffer.concat(chunks)) });
      });
    });
    sent.end(text);
  });
}

function parsed(bytes: Buffer): Answer['body'] {
  try {
    return JSON.parse(bytes.toString()) as Answer['body'];
  } catch {
    return undefined;
  }
}
