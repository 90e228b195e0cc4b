import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Response } from 'express';
import type { Config } from '../config';
import { Connections } from './connections';
import { JSON_TYPE } from './errors';
import { LONGEST_HEAD } from './parameters';
import { AnswerText } from './returns';
import { UntakenAnswers } from './untaken';

type Timeouts = Pick<Config, 'headersTimeoutMs' | 'requestTimeoutMs' | 'answerTimeoutMs'>;

/** Express for an API: requests born with its prototypes, text sent as it is, limits of time, one spelling of a path. */
export class LeanExpressAdapter extends ExpressAdapter {
  /** of the server, once it is made */
  connections!: Connections;

  constructor(private readonly timeouts: Timeouts) {
    super();
    // A path is one path: not another one in other letters, nor the list for who left an id empty. Express reads its own
    // settings of these names before Nest's adapter hands it over.
    const { router } = this.getInstance<{ router: object }>();
    Object.assign(router, { caseSensitive: true, strict: true });
  }

  /**
   * Express changes the prototypes of every request and response to its own, and V8 gives up what it knows about an
   * object whose prototype changes. Here they are made with Express's prototypes, so that nothing is left to change.
   */
  override initHttpServer(): void {
    const app = this.getInstance<{ request: IncomingMessage; response: ServerResponse }>();
    class ExpressRequest extends IncomingMessage {}
    const untaken = new UntakenAnswers(this.timeouts.answerTimeoutMs);
    class ExpressResponse extends ServerResponse {
      override end(...given: never[]): this {
        super.end(...given);
        untaken.watch(this);
        return this;
      }
    }
    app.request = Object.setPrototypeOf(ExpressRequest.prototype, app.request) as IncomingMessage;
    app.response = Object.setPrototypeOf(ExpressResponse.prototype, app.response) as ServerResponse;
    const { headersTimeoutMs, requestTimeoutMs } = this.timeouts;
    const timeouts = {
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
      requestTimeout: requestTimeoutMs,
      // Longer than load balancers keep a connection that nobody uses, so that they close it, and never send a request
      // into one that is just being closed here.
      keepAliveTimeout: 75_000,
      // Node looks every 30 seconds, which would be added to each of them.
      connectionsCheckingInterval: Math.min(headersTimeoutMs, requestTimeoutMs, 1000),
    };
    const classes = { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
    const server = createServer({ ...timeouts, ...classes, maxHeaderSize: LONGEST_HEAD });
    this.httpServer = server;
    this.connections = new Connections(server, app as never);
  }

  /** Sends text as it is: what handlers return is JSON already, and nothing of it has to be looked at once more. */
  override reply(response: Response, body: unknown, status?: number): unknown {
    if (response.writableEnded) return undefined; // refused meanwhile, because its body turned out to be broken
    if (!(body instanceof AnswerText)) return super.reply(response, body, status) as unknown;
    const text = body.take();
    response.setHeader('Content-Type', JSON_TYPE);
    // Node leaves the length out of answers to HEAD, and to HTTP/1.0, where one cut short would look whole.
    const isLengthLeftOut = !response.useChunkedEncodingByDefault || response.req.method === 'HEAD';
    if (isLengthLeftOut) response.setHeader('Content-Length', Buffer.byteLength(text));
    return response.end(text);
  }
}
