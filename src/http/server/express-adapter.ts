import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import type { Config } from '../../config';
import { JSON_TYPE } from '../../errors/error-response';
import { JsonPayload } from './json-payload';
import { Connections } from './connections';
import { MAX_HEAD_BYTES } from '../../fields/text';
import { SlowReaderLimit } from './slow-reader-limit';

/**
 * Maximum number of characters to send in one piece. Encoding ten million takes 50 ms, during which no other request is
 * served.
 */
const MAX_UNSPLIT_CHARACTERS = 1 << 20;

/** An Express adapter for an API: it sets prototypes early, sends JSON text as it is, and limits the time of requests. */
export class LeanExpressAdapter extends ExpressAdapter {
  readonly slowReaders: SlowReaderLimit;
  readonly connections = new Connections();
  /** Whether each response asks its client to close the connection. */
  isDraining = false;
  /** The first step of every request, before Express parses its target. */
  onRequest: (request: Request, response: Response, next: () => void) => void = (_request, _response, next) => next();

  constructor(private readonly config: Pick<Config, 'headersTimeoutMs' | 'requestTimeoutMs' | 'responseTimeoutMs'>) {
    // Required here because tracing instruments what CommonJS requires, and Nest imports Express as an ES module.
    super(express());
    this.slowReaders = new SlowReaderLimit(config.responseTimeoutMs);
    // `/Leads` and `/leads/` are different paths from `/leads`.
    Object.assign(this.getInstance<{ router: object }>().router, { caseSensitive: true, strict: true });
  }

  /**
   * Creates requests and responses with Express's prototypes, because Express would replace those of each, which is slow
   * (docs/decisions/0019).
   */
  override initHttpServer(): void {
    const app = this.getInstance<Express>();
    // eslint-disable-next-line @typescript-eslint/no-this-alias -- `this` of the class below is a response
    const adapter = this;
    class ExpressRequest extends IncomingMessage {
      private isExcessive?: boolean;

      /**
       * Node.js asks for this before it creates a response. Versions 20 to 24 then parse nothing more of the connection, and
       * version 26 asks each request of the same read.
       */
      get upgrade(): boolean {
        this.isExcessive ??= adapter.connections.hasMaximum(this.socket);
        return this.isExcessive || this.method === 'CONNECT';
      }

      set upgrade(_offered: boolean) {
        // Only excessive requests and CONNECT switch protocols.
      }
    }
    class ExpressResponse extends ServerResponse {
      override end(...args: never[]): this {
        if (adapter.isDraining && !this.headersSent) this.setHeader('Connection', 'close');
        super.end(...args);
        adapter.slowReaders.watch(this);
        return this;
      }
    }
    app.request = Object.setPrototypeOf(ExpressRequest.prototype, app.request) as Request;
    app.response = Object.setPrototypeOf(ExpressResponse.prototype, app.response) as Response;
    const { headersTimeoutMs, requestTimeoutMs: requestTimeout } = this.config;
    const headersTimeout = Math.min(headersTimeoutMs, requestTimeout);
    this.httpServer = createServer(
      {
        IncomingMessage: ExpressRequest as typeof IncomingMessage,
        ServerResponse: ExpressResponse,
        maxHeaderSize: MAX_HEAD_BYTES,
        headersTimeout,
        requestTimeout,
        connectionsCheckingInterval: Math.min(headersTimeout, 1000),
        keepAliveTimeout: 75_000, // longer than load balancers', so that they close an idle connection first
        requireHostHeader: false, // Node would respond in plain text
      },
      (request, response) => {
        this.connections.add(request, response);
        this.onRequest(request as Request, response as Response, () => app(request as Request, response as Response));
      },
    );
  }

  /**
   * Nest responds with 404 only to unknown paths under the prefix; Express would respond to all others, `*` included, in
   * HTML. So the prefix is not passed on.
   */
  override setNotFoundHandler(handler: RequestHandler): void {
    super.setNotFoundHandler(handler);
  }

  /** Sends a JsonPayload as it is, without serializing it again. */
  override reply(response: Response, body: unknown, status?: number): unknown {
    if (response.writableEnded) return undefined; // already rejected, because the rest of the request body was malformed
    if (!(body instanceof JsonPayload)) return super.reply(response, body, status) as unknown;
    const { parts } = body;
    response.setHeader('Content-Type', JSON_TYPE);
    // Node omits the length for HEAD, and for HTTP/1.0, where a truncated response would look complete.
    if (!response.useChunkedEncodingByDefault || response.req.method === 'HEAD') {
      const bytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
      response.setHeader('Content-Length', bytes);
    }
    const characters = parts.reduce((sum, part) => sum + part.length, 0);
    if (characters <= MAX_UNSPLIT_CHARACTERS || response.req.method === 'HEAD') return response.end(body.text);
    this.slowReaders.watch(response, characters);
    return pipeline(Readable.from(parts), response, () => undefined);
  }
}
