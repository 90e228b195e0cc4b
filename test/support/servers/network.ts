import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { PREFIX } from '../../../src/config';

/**
 * What becomes of a request: it is answered; it never arrives; it is carried out and nobody hears of it; or it is carried
 * out, and the program that sent it is killed before it hears of it.
 */
export type Fate = 'answered' | 'lost' | 'reply lost' | 'program killed';

/** A network between a program and Lanyard, of which a test decides request by request what it does. */
export class Network {
  /** the requests that came, as `POST /leads` */
  readonly requests: string[] = [];
  /** asked for the fate of each request, which is the `nth` one, counted from 1 */
  fate: (nth: number) => Fate = () => 'answered';
  /** done before a request is passed on */
  before: (nth: number) => Promise<void> = () => Promise.resolve();
  /** what another server in Lanyard's place answers to everything, with a 200 */
  answer?: string;
  /** The longest page of a list or feed, if it is shorter than the limit that a program asks for. */
  maxLimit = Infinity;
  /** The bodies of responses that arrived, one after the other. */
  responses = '';
  /** the program that may be killed */
  program?: ChildProcess;
  private readonly server: Server;

  private constructor(private readonly target: string) {
    this.server = createServer((request, response) => void this.pass(request, response));
  }

  /** @param target the base URL of the API, which ends with PREFIX as that of the network does */
  static async to(target: string): Promise<Network> {
    const network = new Network(target);
    network.server.listen(0, '127.0.0.1');
    await once(network.server, 'listening');
    return network;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/${PREFIX}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '' } = request;
    const url = request.url?.replace(`/${PREFIX}`, '') ?? '';
    const shortened = url.replace(/(?<=[?&]limit=)\d+/, (limit) => String(Math.min(Number(limit), this.maxLimit)));
    const nth = this.requests.push(`${method} ${url}`);
    const fate = this.fate(nth);
    const body = await buffer(request);
    if (this.answer !== undefined) return void response.end(this.answer);
    await this.before(nth);
    if (fate === 'lost') return void request.socket.destroy();
    const names = ['x-api-key', 'content-type', 'idempotency-key'];
    const headers = names.flatMap((name) => (request.headers[name] ? [[name, String(request.headers[name])]] : []));
    const answer = await fetch(this.target + shortened, {
      method,
      headers: Object.fromEntries(headers) as Record<string, string>,
      ...(body.length > 0 && { body }),
    });
    const text = await answer.text();
    if (fate === 'program killed') this.program?.kill('SIGKILL');
    if (fate !== 'answered') return void request.socket.destroy();
    this.responses += text;
    const retryAfter = answer.headers.get('retry-after');
    if (retryAfter) response.setHeader('retry-after', retryAfter);
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  }
}
