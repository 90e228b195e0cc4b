import { LRUCache } from 'lru-cache';
import { type BucketLimits, type BucketState, take, type TakeResult } from './token-bucket';

/** About 20 MB. Of more keys than this, those used longest ago have a full bucket again. */
const MAX_BUCKETS = 100_000;

/** Buckets in this process's memory: the store of a single process, and the stand-in while Redis does not answer. */
export class InProcessTokenBucketStore {
  private readonly buckets = new LRUCache<string, BucketState>({ max: MAX_BUCKETS });

  /** @param clock unix time in microseconds, an integer */
  constructor(private readonly clock: () => number = () => Date.now() * 1000) {}

  take(keyId: string, limits: BucketLimits): TakeResult {
    const { state, result } = take(this.buckets.get(keyId), limits, this.clock());
    this.buckets.set(keyId, state);
    return result;
  }

  /**
   * Replaces a bucket by one that another store reported, so that a later take goes on from there.
   *
   * @param theirNow the other store's clock at the report, in unix microseconds. The two clocks may differ; without
   *   the difference a client would gain it in tokens, or wait for it.
   */
  remember(keyId: string, state: BucketState, theirNow: number): void {
    this.buckets.set(keyId, { ...state, time: state.time + this.clock() - theirNow });
  }
}
