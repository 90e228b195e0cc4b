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
 * A bucket as it is stored. All values are integers, in units in which microseconds × milli-tokens per second are
 * nano-tokens without a division: every value and every product below is exact under 2^53.
 */
export interface BucketState {
  /** The number of nano-tokens at `time`. */
  tokens: number;
  /** The time in microseconds, by the clock of the store. */
  time: number;
  /** The capacity in nano-tokens that was in force at `time`. */
  max: number;
  /** The refill rate in milli-tokens per second that was in force at `time`. */
  rate: number;
}

/** The allowed range of `maxTokens`. One more digit would exceed 2^53 nano-tokens. */
export const MAX_TOKENS = { min: 1, max: 9_000_000 };

/** The allowed range of `refillRate`, in tokens per second. */
export const REFILL_RATE = { min: 0.001, max: 1_000_000 };

const NANOS_PER_TOKEN = 1_000_000_000;
const MICROS_PER_SECOND = 1_000_000;

/** The stored time of a bucket may lie ahead of the clock by this much, in microseconds. More means that the clock was set back. */
const MAX_LEAD = MICROS_PER_SECOND;

/** Why a key cannot have these limits, in one line; undefined if it can. */
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

/** Converts limits to the units of a stored bucket: nano-tokens and milli-tokens per second. */
export function storedLimits(limits: BucketLimits): Pick<BucketState, 'max' | 'rate'> {
  // Rounding is necessary, because 1.005 × 1000 is 1004.9999999999999.
  return { max: limits.maxTokens * NANOS_PER_TOKEN, rate: Math.round(limits.refillRate * 1000) };
}

/**
 * Takes one token, if there is a whole one. The Lua script in take-token.lua.ts does the same in Redis.
 *
 * @param state the stored bucket; undefined means a full one
 * @param now microseconds by the clock of the store; a time before `state.time` credits nothing
 * @returns the state to store, which is `state` itself if nothing needs to be written
 */
export function takeToken(
  state: BucketState | undefined,
  limits: BucketLimits,
  now: number,
): { state: BucketState; isAdmitted: boolean } {
  const { max, rate } = storedLimits(limits);
  const bucket = state ? applyLimits(refill(state, now), max, rate) : { tokens: max, time: now, max, rate };
  if (bucket.tokens >= NANOS_PER_TOKEN) {
    return { state: { ...bucket, tokens: bucket.tokens - NANOS_PER_TOKEN }, isAdmitted: true };
  }
  // A rejection under unchanged limits stores nothing, because the credit can be computed from the older state, too.
  const isUnchanged = state && state.max === max && state.rate === rate && state.time <= bucket.time;
  return { state: isUnchanged ? state : bucket, isAdmitted: false };
}

/**
 * Converts a bucket to the result of taking a token.
 *
 * @param state the stored bucket, whose time is Unix time
 * @param now Unix time in microseconds
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

/** Credits the time since the state was stored, under the limits that applied during it. */
function refill(state: BucketState, now: number): BucketState {
  // Setting the time back would credit the same time twice, so a small lead is kept. A larger one would keep the key waiting.
  if (state.time - now > MAX_LEAD) return { ...state, time: now };
  if (now <= state.time) return state;
  // Times are compared before they are multiplied, because years at a high rate would exceed 2^53.
  const isFull = now - state.time >= ceilDivide(state.max - state.tokens, state.rate);
  const tokens = isFull ? state.max : state.tokens + (now - state.time) * state.rate;
  return { ...state, tokens, time: now };
}

/** Applies changed limits: a full bucket stays full; otherwise tokens are kept, up to the new maximum. */
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

/**
 * Converts the sum of two amounts of microseconds to seconds, rounded up. They are added in parts, because their sum can
 * exceed 2^53.
 */
function ceilSeconds(a: number, b: number): number {
  const rest = (a % MICROS_PER_SECOND) + (b % MICROS_PER_SECOND);
  return Math.floor(a / MICROS_PER_SECOND) + Math.floor(b / MICROS_PER_SECOND) + ceilDivide(rest, MICROS_PER_SECOND);
}
