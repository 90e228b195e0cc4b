import { hash } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { Webhook } from 'standardwebhooks';
import { version } from '../../package.json';
import type { WebhookEntity } from './webhook.entity';

/** Milliseconds from the start of a try within which the head of the answer must have come. */
const HEAD_TIMEOUT_MS = 15_000;
/** Of the body that nobody reads. */
const MAX_BODY_BYTES = 1024;
const BODY_TIMEOUT_MS = 1_000;

/** What a message says, but for the moment of its try. */
export interface Message {
  /** stands for what it says: a receiver may drop one that it knows */
  id: string;
  /** JSON text of its fields after `type`, `timestamp` and `organizationId` */
  fields: string;
  type: 'changes' | 'ping';
}

/** How a try ended: a status, or the fault for which there is none. */
export type Outcome = Answered | { fault: string };
type Answered = { status: number; retryAfter?: string };

export const isYes = (outcome: Outcome): outcome is Answered =>
  'status' in outcome && outcome.status >= 200 && outcome.status < 300;

/** A message's id, which stands for all of `parts`. */
export const idOf = (...parts: string[]): string => `msg_${hash('sha256', parts.join('\n'), 'base64url')}`;

/** Sends a message as Standard Webhooks 1.0.0 has it. Redirects are not followed. @param signal ends it without an outcome */
export function send(webhook: WebhookEntity, message: Message, now: Date, signal?: AbortSignal): Promise<Outcome> {
  const head = `{"type":"${message.type}","timestamp":"${now.toISOString()}","organizationId":${webhook.organizationId}`;
  const body = `${head}${message.fields}}`;
  const isOldValid = webhook.oldSecret !== null && webhook.oldExpiresAt !== null && webhook.oldExpiresAt > now;
  const secrets = [webhook.secret, ...(isOldValid ? [webhook.oldSecret!] : [])];
  return post(new URL(webhook.url), body, signal, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': `Lanyard/${version}`,
    'webhook-id': message.id,
    'webhook-timestamp': Math.floor(now.getTime() / 1000),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(message.id, now, body)).join(' '),
  });
}

function post(
  url: URL,
  body: string,
  signal: AbortSignal | undefined,
  headers: http.OutgoingHttpHeaders,
): Promise<Outcome> {
  const { request: start } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve) => {
    const request = start(url, { method: 'POST', headers, agent: false, signal });
    let timeout = setTimeout(() => request.destroy(new Error('timeout')), HEAD_TIMEOUT_MS);
    let outcome: Outcome = { fault: 'connection closed' };
    request.on('response', (response) => {
      clearTimeout(timeout);
      const { statusCode: status = 0, headers: received } = response;
      outcome = { status, retryAfter: received['retry-after'] };
      // Also when it is whole: the receiver may not have read the request.
      timeout = setTimeout(() => request.destroy(), BODY_TIMEOUT_MS);
      let bytes = 0;
      response.on('data', (piece: Buffer) => (bytes += piece.length) > MAX_BODY_BYTES && request.destroy());
      response.on('error', () => undefined);
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      if ('fault' in outcome) outcome = { fault: error.code ?? error.message };
    });
    request.on('close', () => {
      clearTimeout(timeout);
      resolve(outcome);
    });
    request.end(body);
  });
}
