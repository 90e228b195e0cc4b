import { Agent, request } from 'node:http';
import { Answer, Call, ENDPOINTS, Payload } from './endpoints';

/** A client of one server that keeps its connections: a million requests would wait long for new ones. */
export class Client {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 8 });
  private readonly base: URL;

  constructor(baseUrl: string) {
    this.base = new URL(baseUrl);
  }

  close(): void {
    this.agent.destroy();
  }

  send(call: Call): Promise<Answer> {
    const { method } = ENDPOINTS[call.endpoint];
    const body = textOf(call.payload);
    const headers: Record<string, string | string[]> = {};
    if (call.keys.length > 0) headers['x-api-key'] = call.keys;
    if (body !== undefined) {
      headers['content-type'] = call.payload && 'otherType' in call.payload ? 'text/plain' : 'application/json';
      headers['content-length'] = String(Buffer.byteLength(body));
    }
    const { hostname, port, pathname } = this.base;
    const sent = Date.now();
    return new Promise((resolve, reject) => {
      const options = { agent: this.agent, hostname, port, method, path: pathname + pathOf(call), headers };
      const sending = request(options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const { statusCode: status = 0, headers } = response;
          resolve({ status, headers, body: jsonOf(text), sent, received: Date.now() });
        });
      });
      sending.on('error', reject);
      sending.end(body);
    });
  }
}

/** A request and its answer, for people. */
export const tell = (call: Call, { status, body }: Answer): string =>
  `${call.endpoint} ${JSON.stringify({ ...call, endpoint: undefined })}\nanswered ${status} ${JSON.stringify(body)}`;

function pathOf({ endpoint, ids, query }: Call): string {
  const rest = [...ids];
  const path = ENDPOINTS[endpoint].path.replaceAll(/:/g, () => encodeURIComponent(rest.shift() ?? ''));
  return query.length > 0 ? `${path}?${new URLSearchParams(query).toString()}` : path;
}

function textOf(payload: Payload | undefined): string | undefined {
  if (!payload) return undefined;
  return 'text' in payload ? payload.text : JSON.stringify('json' in payload ? payload.json : payload.otherType);
}

/** What is no JSON is a text, which no reply of the contract is. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
