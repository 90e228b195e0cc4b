import type { Answer } from './endpoints';

/** Within that time a revoked key is refused everywhere; before, both answers are right. */
const IN_FORCE_MS = 5000;

/** A key, and what is known of its bucket. */
export interface Key {
  id: string;
  value: string;
  organization: number;
  maxTokens: number;
  refillRate: number;
  /** undefined for a bucket that refills faster than anyone asks */
  tokens: number | undefined;
  /** unix milliseconds from which it is no longer good */
  endsAt: number | undefined;
  /** whether it was good before that, and may be remembered for a while */
  wasGood: boolean;
}

/** A bucket that refills so slowly that a run sees no token come back. */
const isSlow = (refillRate: number): boolean => refillRate <= 0.001;

export const newKey = (key: Omit<Key, 'tokens' | 'wasGood'>): Key => ({
  ...key,
  tokens: isSlow(key.refillRate) ? key.maxTokens : undefined,
  wasGood: key.endsAt === undefined,
});

/** What a key may be answered: refused, admitted, or for a while either. */
export function mayBe({ endsAt, wasGood }: Key, { sent, received }: Answer): { refused: boolean; admitted: boolean } {
  if (endsAt === undefined || received < endsAt) return { refused: false, admitted: true };
  return { refused: true, admitted: wasGood && sent < endsAt + IN_FORCE_MS };
}

/** The key after an answer; or what the answer's headers should say. */
export function charged(key: Key, { status, headers, sent }: Answer): Key | string {
  const { maxTokens, refillRate, tokens } = key;
  const isRefused = status === 429;
  const remaining = Number(headers['x-ratelimit-remaining']);
  if (Number(headers['x-ratelimit-limit']) !== maxTokens) return `X-RateLimit-Limit ${maxTokens}`;
  if (isRefused !== (tokens === 0)) return `a bucket of ${tokens} tokens`;
  const left = isRefused ? 0 : tokens === undefined ? remaining : tokens - 1;
  if (remaining !== left || left >= maxTokens) return `X-RateLimit-Remaining ${left}, not ${remaining}`;
  // Each token that is missing takes 1 / rate seconds; one may have been on its way for as long as a run lasts.
  const missing = tokens === undefined ? 0 : maxTokens - left;
  const fullInS = Number(headers['x-ratelimit-reset']) - sent / 1000;
  const isResetRight = fullInS >= (missing - 1) / refillRate - 2 && fullInS <= missing / refillRate + 3;
  if (!isResetRight) return `X-RateLimit-Reset for ${missing} tokens, not in ${fullInS} s`;
  const retryAfter = headers['retry-after'];
  const isWaitRight = Number(retryAfter) >= 1 && Number(retryAfter) <= Math.ceil(1 / refillRate) + 1;
  if (isRefused ? !isWaitRight : retryAfter !== undefined) return `another Retry-After than ${String(retryAfter)}`;
  return tokens === undefined ? key : { ...key, tokens: left };
}
