import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface Ask {
  method: string;
  /** from the root of the server */
  path: string;
  key?: string;
  /** an object is sent as JSON, anything else as it is */
  body?: object | string | Buffer;
  headers?: Record<string, string | string[]>;
  /** false opens a connection for this request alone */
  agent?: Agent | false;
  timeoutMs?: number;
  /** the body of the answer is not kept: reading megabytes would keep this process from timing others */
  isDiscarded?: boolean;
}

/** What came back: either a status, or the error of the network. */
export interface Answer {
  status?: number;
  headers: IncomingHttpHeaders;
  /** parsed; undefined when it is not JSON */
  body?: { results?: unknown; error?: string };
  /** ECONNREFUSED, ECONNRESET, …; TIMEOUT when nothing came */
  error?: string;
  tookMs: number;
}

const keepAlive = new Agent({ keepAlive: true, maxSockets: Infinity });

/** Sends a request to a server of this machine. It never throws. */
export function ask(
  port: number,
  { method, path, key, body, headers, agent = keepAlive, timeoutMs = 30_000, isDiscarded }: Ask,
) {
  const started = performance.now();
  const isRaw = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
  const sentHeaders = {
    ...(key === undefined ? {} : { 'x-api-key': key }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  };
  return new Promise<Answer>((resolve) => {
    const done = (answer: Partial<Answer>): void =>
      resolve({ headers: {}, ...answer, tookMs: performance.now() - started });
    const failed = (error: NodeJS.ErrnoException): void => done({ error: error.code ?? error.message });
    const sent = request({ host: '127.0.0.1', port, method, path, agent, headers: sentHeaders });
    const timer = setTimeout(() => sent.destroy(Object.assign(new Error(), { code: 'TIMEOUT' })), timeoutMs);
    sent.once('close', () => clearTimeout(timer));
    sent.once('error', failed);
    sent.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => isDiscarded || chunks.push(chunk));
      response.once('error', failed);
      response.once('end', () => {
        const { statusCode: status, headers } = response;
        done({ status, headers, body: parsed(Buffer.concat(chunks)) });
      });
    });
    sent.end(isRaw ? body : JSON.stringify(body));
  });
}

function parsed(bytes: Buffer): Answer['body'] {
  try {
    return JSON.parse(bytes.toString()) as Answer['body'];
  } catch {
    return undefined;
  }
}

/** Whether the server may have done what it was asked although it did not say so. */
export const isUnknown = ({ status, error }: Answer): boolean =>
  error === undefined ? (status ?? 0) >= 500 : error !== 'ECONNREFUSED';

export const isAcknowledged = ({ status }: Answer): boolean => status === 200;

/** How often each answer came, by its status or the error of the network. */
export class Tally {
  readonly counts = new Map<string, number>();

  add({ status, error }: Pick<Answer, 'status' | 'error'>): void {
    const what = String(status ?? error);
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  get total(): number {
    return this.countOf(() => true);
  }

  get serverErrors(): number {
    return this.countOf((what) => /^5\d\d$/.test(what));
  }

  countOf(isMeant: (what: string) => boolean): number {
    return [...this.counts].reduce((sum, [what, count]) => sum + (isMeant(what) ? count : 0), 0);
  }

  /** `12 × 200, 3 × ECONNRESET` */
  toString(): string {
    const sorted = [...this.counts].sort(([a], [b]) => a.localeCompare(b));
    return sorted.map(([what, count]) => `${count} × ${what}`).join(', ') || 'none';
  }
}
