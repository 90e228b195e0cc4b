import { type BucketLimits, type BucketState, isFull, take, type TakeResult } from './token-bucket';
import { TokenBucketStore } from './token-bucket.store';

/** About 20 MB. Reached only by more keys than this, all of them short of tokens. */
const MOST_BUCKETS = 100_000;

/** More than one, so that the sweep is faster than keys can arrive. */
const SWEPT_PER_TAKE = 2;

/** Buckets in this process's memory: the store of a single process, and the stand-in while Redis does not answer. */
export class InProcessTokenBucketStore extends TokenBucketStore {
  /** from the bucket that was touched longest ago to the latest */
  private readonly buckets = new Map<string, BucketState>();
  private sweeper = this.buckets.entries();

  /** @param clock unix time in microseconds, an integer */
  constructor(private readonly clock: () => number = () => Date.now() * 1000) {
    super();
  }

  /** How many buckets are held. */
  get size(): number {
    return this.buckets.size;
  }

  override async take(keyId: string, limits: BucketLimits): Promise<TakeResult> {
    const now = this.clock();
    const { state, result } = take(this.buckets.get(keyId), limits, now);
    this.touch(keyId, state);
    this.sweep(now);
    return result;
  }

  /**
   * Replaces a bucket by one that another store reported, so that a later take goes on from there.
   *
   * @param theirNow the other store's clock at the report, in unix microseconds. The two clocks may differ; without
   *   the difference a client would gain it in tokens, or wait for it.
   */
  remember(keyId: string, state: BucketState, theirNow: number): void {
    const now = this.clock();
    this.touch(keyId, { ...state, time: state.time + now - theirNow });
    this.sweep(now);
  }

  private touch(keyId: string, state: BucketState): void {
    this.buckets.delete(keyId);
    this.buckets.set(keyId, state);
    if (this.buckets.size <= MOST_BUCKETS) return;
    for (const oldest of this.buckets.keys()) {
      this.buckets.delete(oldest);
      return;
    }
  }

  /** Forgets buckets that are full again, a few a call: no timer to stop, no pause to walk through all of them. */
  private sweep(now: number): void {
    for (let i = 0; i < SWEPT_PER_TAKE; i++) {
      const next = this.sweeper.next();
      if (next.done) {
        this.sweeper = this.buckets.entries();
        return;
      }
      const [keyId, state] = next.value;
      if (isFull(state, now)) this.buckets.delete(keyId);
    }
  }
}
