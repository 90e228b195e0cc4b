import type { DeliveryResult } from './delivery-result';

const SECOND_MS = 1_000;
const DAY_MS = 86_400 * SECOND_MS;
/** Milliseconds after an attempt, by the number of attempts since the last success. */
const RETRY_DELAYS_MS = [5, 30, 300, 1_800, 3_600].map((seconds) => seconds * SECOND_MS);
const RETRY_JITTER = 0.2;

/** When to try again: after the delay, or later where the receiver asks for it, but within a day. */
export function nextAttempt(result: DeliveryResult, failures: number, now: Date): Date {
  const delay = RETRY_DELAYS_MS[Math.min(failures, RETRY_DELAYS_MS.length) - 1] as number;
  const requested = 'status' in result ? retryAfterMs(result.retryAfter, now) : 0;
  const wait = Math.min(DAY_MS, Math.max(delay * (1 + RETRY_JITTER * Math.random()), requested));
  return new Date(now.getTime() + wait);
}

function retryAfterMs(header = '', now: Date): number {
  const milliseconds = /^\s*\d+\s*$/.test(header) ? Number(header) * SECOND_MS : Date.parse(header) - now.getTime();
  return milliseconds || 0;
}
