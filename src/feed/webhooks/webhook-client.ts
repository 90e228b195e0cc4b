import { hash } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { TcpNetConnectOpts } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Webhook as Signer } from 'standardwebhooks';
import { version } from '../../../package.json';
import { KeyReceivers } from './key-receivers';
import { AddressNotAllowed, ReceiverLookup } from './receiver-lookup';
import type { DeliveryResult } from '../changes/delivery-result';
import type { FeedReaderEntity } from '../changes/feed-reader.entity';

/** Milliseconds from the start of an attempt within which the head of the response must have come. */
const HEAD_TIMEOUT_MS = 15_000;
/** The error of an attempt without a response. It is stored, so that a receiver that hangs is known after a restart, too. */
export const TIMEOUT_ERROR = 'timeout';
/** Bytes and milliseconds of the response's body, which nobody reads. */
const MAX_BODY_BYTES = 1024;
const BODY_TIMEOUT_MS = 1_000;
/** Informational responses (1xx) before the final one. A receiver that floods them would occupy the process. */
const MAX_INFORMATIONAL_RESPONSES = 8;

/** What a message says, except for the moment of its attempt. */
export interface WebhookMessage {
  /** The id stands for the content: a receiver may drop a message whose id it knows. */
  id: string;
  /** JSON text of the fields after `type`, `timestamp` and `organizationId`. */
  fields: string;
  type: 'changes' | 'ping';
}

/** A reader of the feed that has a URL, and so a secret. */
export type Webhook = FeedReaderEntity & { url: string; secret: string };

/** A message's id, which stands for all of `parts`. */
export const messageId = (...parts: string[]): string => `msg_${hash('sha256', parts.join('\n'), 'base64url')}`;

/** Sends messages as Standard Webhooks 1.0.0 specifies. It follows no redirects. */
@Injectable()
export class WebhookClient {
  /** @param receivers where the operator's webhooks may lead */
  constructor(
    private readonly receivers: ReceiverLookup,
    private readonly keyReceivers: KeyReceivers,
  ) {}

  /** @param signal ends the attempt; its result then means nothing */
  send(webhook: Webhook, message: WebhookMessage, now: Date, signal?: AbortSignal): Promise<DeliveryResult> {
    const url = new URL(webhook.url);
    const receivers = webhook.apiKeyIds ? this.keyReceivers.lookupOf(url) : this.receivers;
    if (!receivers.isAllowedHost(url.hostname)) return Promise.resolve({ error: new AddressNotAllowed().code });
    const head = `{"type":"${message.type}","timestamp":"${now.toISOString()}","organizationId":${webhook.organizationId}`;
    const body = `${head}${message.fields}}`;
    const secrets = [webhook.secret];
    const { oldSecret, oldExpiresAt } = webhook;
    if (oldSecret !== null && oldExpiresAt !== null && oldExpiresAt > now) secrets.push(oldSecret);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': `Lanyard/${version}`,
      'webhook-id': message.id,
      'webhook-timestamp': Math.floor(now.getTime() / 1000),
      'webhook-signature': secrets.map((secret) => new Signer(secret).sign(message.id, now, body)).join(' '),
    };
    const { lookup } = receivers;
    return post(url, body, { method: 'POST', headers, agent: false, signal, lookup, autoSelectFamily: true });
  }
}

type RequestOptions = http.RequestOptions & Pick<TcpNetConnectOpts, 'autoSelectFamily'>;

function post(url: URL, body: string, options: RequestOptions): Promise<DeliveryResult> {
  const { request: start } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve) => {
    const request = start(url, options);
    let timeout = setTimeout(() => request.destroy(new Error(TIMEOUT_ERROR)), HEAD_TIMEOUT_MS);
    let result: DeliveryResult = { error: 'connection closed' };
    let informational = 0;
    request.on('information', () => {
      informational++;
      if (informational > MAX_INFORMATIONAL_RESPONSES) request.destroy(new Error('too many informational responses'));
    });
    request.on('response', (response) => {
      // What the parser still finds in a piece after the flood was ended is no response to anything.
      if (request.destroyed) return;
      clearTimeout(timeout);
      const { statusCode: status = 0, headers: received } = response;
      result = { status, retryAfter: received['retry-after'] };
      // Also when it is complete: the receiver may not have read the request.
      timeout = setTimeout(() => request.destroy(), BODY_TIMEOUT_MS);
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_BODY_BYTES) request.destroy();
      });
      response.on('error', () => undefined);
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      if ('error' in result) result = { error: error.code ?? error.message };
    });
    request.on('close', () => {
      clearTimeout(timeout);
      resolve(result);
    });
    request.end(body);
  });
}
