import type { Answer } from './endpoints';
import type { Key, State } from './records';

export const mainKeyOf = (state: State, organization: number): string =>
  state.keys.list().find((key) => key.isMain && key.organization === organization)?.value ?? '';

/** The key after an answer; or what the answer's headers should say. */
export function charged(key: Key, { status, headers, sent }: Answer): Key | string {
  const { isMain, maxTokens, refillRate, tokens } = key;
  const isRefused = status === 429;
  const remaining = Number(headers['x-ratelimit-remaining']);
  if (Number(headers['x-ratelimit-limit']) !== maxTokens) return `X-RateLimit-Limit ${maxTokens}`;
  if (isRefused !== (tokens === 0)) return `a bucket of ${tokens} tokens`;
  // A main key's bucket refills faster than anyone asks; the others so slowly that a run sees no token come back.
  const left = isRefused ? 0 : isMain ? remaining : tokens - 1;
  if (remaining !== left || left >= maxTokens) return `X-RateLimit-Remaining ${left}, not ${remaining}`;
  const missing = isMain ? 0 : maxTokens - left;
  // Each token that is missing takes 1 / rate seconds; one may have been on its way for as long as a run lasts.
  const fullInS = Number(headers['x-ratelimit-reset']) - sent / 1000;
  const isResetRight = fullInS >= (missing - 1) / refillRate - 2 && fullInS <= missing / refillRate + 3;
  if (!isResetRight) return `X-RateLimit-Reset for ${missing} tokens, not in ${fullInS} s`;
  const retryAfter = headers['retry-after'];
  const isWaitRight = Number(retryAfter) >= 1 && Number(retryAfter) <= Math.ceil(1 / refillRate) + 1;
  if (isRefused ? !isWaitRight : retryAfter !== undefined) return `another Retry-After than ${String(retryAfter)}`;
  return isMain ? key : { ...key, tokens: left };
}
