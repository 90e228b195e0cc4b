/** The limits of one API key, as the specification names them. */
export interface BucketLimits {
  /** The burst capacity in whole tokens. */
  maxTokens: number;
  /** The refill rate in tokens per second, with at most three decimals. */
  refillRate: number;
}

/** The result of a request for a token. */
export interface TakeResult {
  isAdmitted: boolean;
  /** The number of whole tokens left. */
  remaining: number;
  /** The Unix time in seconds, rounded up, at which the bucket is full. */
  resetAt: number;
  /** Seconds until one token is available, rounded up: at least 1 when rejected, 0 when admitted. */
  retryAfter: number;
}

/**
 * A bucket as it is stored. Integers only, in units chosen so that microseconds × milli-tokens a second are
 * nano-tokens without a division: every value and every product below is exact under 2^53.
 */
export interface BucketState {
  /** The number of nano-tokens at `time`. */
  tokens: number;
  /** The Unix time in microseconds. */
  time: number;
  /** The capacity in nano-tokens that was in force at `time`. */
  max: number;
  /** The refill rate in milli-tokens per second that was in force at `time`. */
  rate: number;
}

/** Allowed `maxTokens`. One more digit in nano-tokens would leave 2^53. */
export const MAX_TOKENS = { min: 1, max: 9_000_000 };

/** Allowed `refillRate` in tokens a second. */
export const REFILL_RATE = { min: 0.001, max: 1_000_000 };

const NANOS_PER_TOKEN = 1_000_000_000;
const MICROS_PER_SECOND = 1_000_000;

/** Why these limits cannot be given to a key, in one line; undefined when they can. */
export function limitsError({ maxTokens, refillRate }: BucketLimits): string | undefined {
  if (!Number.isInteger(maxTokens) || maxTokens < MAX_TOKENS.min || maxTokens > MAX_TOKENS.max) {
    return `--max-tokens must be an integer from ${MAX_TOKENS.min} to ${MAX_TOKENS.max}`;
  }
  const threeDecimals = Math.round(refillRate * 1000) / 1000 === refillRate;
  if (!threeDecimals || refillRate < REFILL_RATE.min || refillRate > REFILL_RATE.max) {
    return `--refill-rate must be a number from ${REFILL_RATE.min} to ${REFILL_RATE.max} with at most three decimals`;
  }
  return undefined;
}

/** Limits in the units of a stored bucket: nano-tokens and milli-tokens a second. */
export function storedLimits(limits: BucketLimits): Pick<BucketState, 'max' | 'rate'> {
  // rounded because 1.005 × 1000 is 1004.9999999999999
  return { max: limits.maxTokens * NANOS_PER_TOKEN, rate: Math.round(limits.refillRate * 1000) };
}

/**
 * Takes one token, if a whole one is there. The Lua script in take-token.lua.ts does the same in Redis.
 *
 * @param state the bucket as stored; undefined is a full bucket
 * @param now unix time in microseconds; before `state.time` (a clock that went back) it credits nothing
 * @returns the state to store, which is `state` itself when nothing has to be written
 */
export function takeToken(
  state: BucketState | undefined,
  limits: BucketLimits,
  now: number,
): { state: BucketState; result: TakeResult } {
  const { max, rate } = storedLimits(limits);
  const bucket = state ? applyLimits(refill(state, now), max, rate) : { tokens: max, time: now, max, rate };
  if (bucket.tokens >= NANOS_PER_TOKEN) {
    const charged = { ...bucket, tokens: bucket.tokens - NANOS_PER_TOKEN };
    return { state: charged, result: toTakeResult(charged, true, now) };
  }
  // A refusal under unchanged limits stores nothing: the credit follows from the older state just as well.
  const unchanged = state && state.max === max && state.rate === rate ? state : bucket;
  return { state: unchanged, result: toTakeResult(unchanged, false, now) };
}

/**
 * The answer that a bucket gives after a take.
 *
 * @param state the stored bucket
 * @param now unix time in microseconds
 */
export function toTakeResult(state: BucketState, isAdmitted: boolean, now: number): TakeResult {
  const { tokens, time, max, rate } = state;
  const untilToken = time - now + ceilDivide(NANOS_PER_TOKEN - tokens, rate);
  return {
    isAdmitted,
    remaining: isAdmitted ? Math.floor(tokens / NANOS_PER_TOKEN) : 0,
    resetAt: ceilSeconds(time, ceilDivide(max - tokens, rate)),
    retryAfter: isAdmitted ? 0 : ceilDivide(untilToken, MICROS_PER_SECOND),
  };
}

/** Credits the time since the state was stored, under the limits that were in force in it. */
function refill(state: BucketState, now: number): BucketState {
  // The later time is kept when the clock goes back: setting it back would credit the same time twice.
  if (now <= state.time) return state;
  // Compared as times before multiplied: years at a high rate would leave 2^53.
  const isFull = now - state.time >= ceilDivide(state.max - state.tokens, state.rate);
  const tokens = isFull ? state.max : state.tokens + (now - state.time) * state.rate;
  return { ...state, tokens, time: now };
}

/** Applies changed limits: a full bucket stays full, otherwise tokens are kept and cut to the new maximum. */
function applyLimits(state: BucketState, max: number, rate: number): BucketState {
  const tokens = state.tokens === state.max ? max : Math.min(state.tokens, max);
  return { tokens, time: state.time, max, rate };
}

/**
 * Returns a / b rounded up. The result is exact although the quotient is rounded: the quotient is an integer or at least
 * 1 / b away from one, and for a < 2^53 the rounding error is less than 1 / b.
 */
function ceilDivide(a: number, b: number): number {
  return Math.ceil(a / b);
}

/** Two amounts of microseconds in seconds, rounded up. Added in parts, as their sum can exceed 2^53. */
function ceilSeconds(a: number, b: number): number {
  const rest = (a % MICROS_PER_SECOND) + (b % MICROS_PER_SECOND);
  return Math.floor(a / MICROS_PER_SECOND) + Math.floor(b / MICROS_PER_SECOND) + ceilDivide(rest, MICROS_PER_SECOND);
}
