import { createHash } from 'node:crypto';

import type { Redis } from 'ioredis';

import { TAKE_TOKEN } from './take-token.lua';
import { type BucketLimits, type BucketState, describeTake, storedLimits, type TakeResult } from './token-bucket';
import { TokenBucketStore } from './token-bucket.store';

/** The version stands for the layout of the hash: processes of two releases never read each other's layout. */
const KEY_PREFIX = 'rl:v1:';

const TAKE_TOKEN_SHA1 = createHash('sha1').update(TAKE_TOKEN).digest('hex');

/** A take, with what another store needs to go on from it. */
interface ReportedTake {
  result: TakeResult;
  state: BucketState;
  /** Redis's clock, in unix microseconds */
  now: number;
}

/** Buckets in Redis (5 or later), shared by all processes: one script call a take, by Redis's own clock. */
export class RedisTokenBucketStore extends TokenBucketStore {
  /** @param clock unix time in microseconds in place of Redis's clock, for tests of the exact arithmetic only */
  constructor(
    private readonly redis: Redis & { heardAt?: number; failure?: Error },
    private readonly clock?: () => number,
  ) {
    super();
  }

  /** @throws Error on everything that keeps Redis from answering or from writing */
  override async take(keyId: string, limits: BucketLimits): Promise<TakeResult> {
    return (await this.takeAndReport(keyId, limits)).result;
  }

  /** As `take`, with the bucket as Redis has stored it. */
  async takeAndReport(keyId: string, limits: BucketLimits): Promise<ReportedTake> {
    const { max, rate } = storedLimits(limits);
    const clock = this.clock ? [this.clock()] : [];
    const reply = (await this.run(KEY_PREFIX + keyId, max, rate, ...clock)) as [number, number, number, number];
    const [admitted, tokens, time, now] = reply;
    const state = { tokens, time, max, rate };
    return { result: describeTake(state, admitted === 1, now), state, now };
  }

  /** When Redis last said something, by the clock of `performance.now()`. */
  get heardAt(): number {
    return this.redis.heardAt ?? -Infinity;
  }

  /** Why commands cannot be sent, if they cannot. */
  get failure(): Error | undefined {
    return this.redis.failure;
  }

  /** Drops a connection that seems alive but does not serve; ioredis makes a new one, by a new look-up of the name. */
  reconnect(): void {
    if (this.redis.status === 'ready') this.redis.disconnect(true);
  }

  /** By its digest, and by its text after a restart, a failover or SCRIPT FLUSH. NOSCRIPT says that nothing ran. */
  private async run(key: string, ...values: number[]): Promise<unknown> {
    try {
      return await this.redis.evalsha(TAKE_TOKEN_SHA1, 1, key, ...values);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return this.redis.eval(TAKE_TOKEN, 1, key, ...values);
    }
  }
}
