import type { BucketLimits, TakeResult } from './token-bucket';

/** Where the buckets of all keys are held. Also the injection token of the one in use. */
export abstract class TokenBucketStore {
  /** whether the store that all processes share counts as away */
  degraded = false;

  /** decisions made without it since the start, single errors included */
  degradedDecisions = 0;

  /**
   * Takes one token from a key's bucket. An unknown key has a full one.
   *
   * @param keyId the id of the API key, never the key
   */
  abstract take(keyId: string, limits: BucketLimits): Promise<TakeResult>;
}
