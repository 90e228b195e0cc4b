import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { runAtEnd } from '../jest/at-the-end';
import { type Change, nameOf, Replica } from '../replica';
import type { ApiClient } from '../client';

export interface Delivery {
  headers: IncomingHttpHeaders;
  body: string;
  message: {
    type: string;
    phase: string;
    changes: Change[];
    hasMore: boolean;
    organizationId: number;
    timestamp: string;
  };
}

/** How a receiver answers; it need not. */
type Answer = (response: ServerResponse, delivery: Delivery) => void;

export const ACKNOWLEDGED: Answer = (response) => void response.writeHead(204).end();
export const rejectWith =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, headers).end();

/** A receiver of a webhook on this machine, which keeps what it said yes to as a copy. */
export class Receiver {
  /** all requests, and those that were said yes to */
  readonly deliveries: Delivery[] = [];
  readonly taken: Delivery[] = [];
  readonly copy: Replica;
  /** requests at the same moment */
  atOnce = 0;
  mostAtOnce = 0;
  answer: Answer = ACKNOWLEDGED;
  /** the secrets that may have signed, the newest first */
  secrets: string[] = [];
  /** names of the records of the snapshot that is being received */
  private readonly brought = new Set<string>();
  private isInSnapshot = false;
  private server?: Server;
  port = 0;

  constructor(api: ApiClient) {
    this.copy = new Replica(api);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook?token=mine`;
  }

  async listen(): Promise<this> {
    this.server = createServer((request, response) => void this.take(request, response));
    await new Promise<void>((resolve) => this.server?.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
    runAtEnd(() => this.close());
    return this;
  }

  close(): Promise<void> {
    this.server?.closeAllConnections();
    return new Promise((resolve) => (this.server?.listening ? this.server.close(() => resolve()) : resolve()));
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.atOnce);
    response.once('close', () => this.atOnce--);
    const body = await text(request).catch(() => '');
    // The sender was killed while it sent.
    if (!request.complete) return;
    for (const secret of this.secrets) new Webhook(secret).verify(body, request.headers as Record<string, string>);
    const delivery = { headers: request.headers, body, message: JSON.parse(body) as Delivery['message'] };
    this.deliveries.push(delivery);
    this.answer(response, delivery);
    // The sender may close the connection before a long body is sent: what counts is the head.
    if (response.headersSent) this.answered(response, delivery);
    else response.once('finish', () => this.answered(response, delivery));
  }

  private answered({ statusCode }: ServerResponse, delivery: Delivery): void {
    if (statusCode >= 300 || delivery.message.type !== 'changes') return;
    this.taken.push(delivery);
    const { phase, changes } = delivery.message;
    for (const change of changes) {
      this.copy.apply(change);
      if (phase === 'snapshot') this.brought.add(nameOf(change));
    }
    if (phase === 'snapshot') this.isInSnapshot = true;
    else if (this.isInSnapshot) this.endSnapshot();
  }

  /** A record that the snapshot did not bring is gone. */
  private endSnapshot(): void {
    for (const name of this.copy.records.keys()) if (!this.brought.has(name)) this.copy.records.delete(name);
    this.brought.clear();
    this.isInSnapshot = false;
  }
}
