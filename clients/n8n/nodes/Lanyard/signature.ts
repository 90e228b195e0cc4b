import { createHmac, timingSafeEqual } from 'node:crypto';

/** A message that is older or newer than this is no message of now. */
const TOLERANCE_S = 300;

type Headers = Record<string, string | string[] | undefined>;

/**
 * Whether a message was signed with one of the secrets, by Standard Webhooks 1.0.0. While a secret rotates, a message has
 * two signatures.
 * @param body The bytes as they arrived.
 */
export function isSigned(headers: Headers, body: Buffer, secrets: readonly string[], now = Date.now()): boolean {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    String(headers[`webhook-${name}`] ?? ''),
  );
  if (!id || !signatures || !(Math.abs(now / 1000 - Number(timestamp)) <= TOLERANCE_S)) return false;
  const sent = signatures.split(' ').map((signature) => Buffer.from(signature.replace(/^v1,/, ''), 'base64'));
  return secrets.some((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
    return sent.some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected));
  });
}
