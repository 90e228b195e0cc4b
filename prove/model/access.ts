import type { Answer } from './endpoints';

/** Milliseconds within which a change of a key is in force everywhere; before, old and new are both right. */
const IN_FORCE = 5000;

/** What a bucket may hold: more than one state, as long as nobody has seen which of its limits is in force. */
interface Bucket {
  maxTokens: number;
  /** undefined for a bucket that refills faster than anybody asks */
  tokens: number | undefined;
}

export interface KeySettings {
  maxTokens: number;
  refillRate: number;
}

/** A key, and what is known of its bucket. */
export interface Key {
  id: string;
  value: string;
  organization: number;
  settings: KeySettings;
  /** unix milliseconds from which it is no longer good */
  endsAt: number | undefined;
  /** whether it was good before that, and may be remembered for a while */
  wasGood: boolean;
  buckets: Bucket[];
  /** limits that a bucket may have got at this moment, and has got 5 seconds later */
  changed: { at: number; maxTokens: number } | undefined;
}

/** A bucket that refills so slowly that a run sees no token come back. */
const isSlow = ({ refillRate }: KeySettings): boolean => refillRate <= 0.001;

export const freshBuckets = (settings: KeySettings): Bucket[] => [
  { maxTokens: settings.maxTokens, tokens: isSlow(settings) ? settings.maxTokens : undefined },
];

/** What a key that has ended may be answered: refused, or for a while admitted. */
export function mayEnd({ endsAt, wasGood }: Key, { sent, received }: Answer): { refused: boolean; admitted: boolean } {
  if (endsAt === undefined || received < endsAt) return { refused: false, admitted: true };
  return { refused: true, admitted: wasGood && sent < endsAt + IN_FORCE };
}

/** The states of the bucket after an answer that fits its headers; none when no state explains it. */
export function bucketsAfter(key: Key, { status, headers, sent, received }: Answer): Bucket[] {
  const limit = Number(headers['x-ratelimit-limit']);
  const remaining = Number(headers['x-ratelimit-remaining']);
  const { changed } = key;
  const candidates = !changed
    ? key.buckets
    : [
        ...(sent < changed.at + IN_FORCE ? key.buckets : []),
        ...(received >= changed.at ? key.buckets.flatMap((bucket) => relimited(bucket, changed.maxTokens)) : []),
      ];
  return distinct(candidates).flatMap((bucket) => {
    if (bucket.maxTokens !== limit) return [];
    const { tokens } = bucket;
    if (tokens === undefined) return status !== 429 && remaining < limit && remaining >= 0 ? [bucket] : [];
    if (tokens === 0) return status === 429 && remaining === 0 ? [bucket] : [];
    return status !== 429 && remaining === tokens - 1 ? [{ ...bucket, tokens: tokens - 1 }] : [];
  });
}

const distinct = (buckets: Bucket[]): Bucket[] => [
  ...new Map(buckets.map((bucket) => [`${bucket.maxTokens} ${bucket.tokens}`, bucket])).values(),
];

/** Tokens held are kept, cut to the new maximum. The contract leaves open whether a full bucket stays full. */
function relimited({ maxTokens: before, tokens }: Bucket, maxTokens: number): Bucket[] {
  if (tokens === undefined) return [{ maxTokens, tokens }];
  const kept = { maxTokens, tokens: Math.min(tokens, maxTokens) };
  return tokens === before ? [kept, { maxTokens, tokens: maxTokens }] : [kept];
}

/** What is wrong with the times that a rate-limited answer tells; undefined when nothing is. */
export function timesFault({ settings: { refillRate } }: Key, bucket: Bucket, answer: Answer): string | undefined {
  const { headers, status, sent } = answer;
  const reset = Number(headers['x-ratelimit-reset']);
  const missing = bucket.tokens === undefined ? 0 : bucket.maxTokens - bucket.tokens;
  const fullIn = reset - sent / 1000;
  // Every token that is missing takes 1 / rate seconds; the last one may be on its way for as long as a run lasts.
  const [least, most] = [(missing - 1) / refillRate - 2, missing / refillRate + 3];
  if (!(Number.isInteger(reset) && fullIn >= least && fullIn <= most)) return `X-RateLimit-Reset ${reset}`;
  const retryAfter = headers['retry-after'];
  const waits = Number(retryAfter);
  const right = Number.isInteger(waits) && waits >= 1 && waits <= Math.ceil(1 / refillRate) + 1;
  return (status === 429 ? right : retryAfter === undefined) ? undefined : `Retry-After ${String(retryAfter)}`;
}
