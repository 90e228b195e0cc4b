import type { RedisConnection } from './redis';
import { TAKE_TOKEN } from './take-token.lua';
import { type BucketLimits, type BucketState, toTakeResult, storedLimits, type TakeResult } from './token-bucket';

/** The version stands for the layout of the hash, so that processes of two releases never read each other's layout. */
const KEY_PREFIX = 'rl:v1:';

/** The result of taking a token, with what another store needs to continue from it. */
interface RedisTakeResult {
  result: TakeResult;
  state: BucketState;
  /** The time of Redis's clock, in Unix microseconds. */
  now: number;
}

interface Scripts {
  takeToken(
    key: string,
    max: number,
    rate: number,
  ): Promise<[admitted: number, tokens: number, time: number, now: number]>;
}

/** Buckets in Redis (5 or later), shared by all processes. Each take is one script call, by Redis's own clock. */
export class RedisTokenBucketStore {
  private readonly scripts: Scripts;

  constructor(readonly connection: RedisConnection) {
    connection.client.defineCommand('takeToken', { numberOfKeys: 1, lua: TAKE_TOKEN });
    this.scripts = connection.client as unknown as Scripts;
  }

  /** @throws Error if Redis does not respond or cannot write */
  async take(keyId: string, limits: BucketLimits): Promise<RedisTakeResult> {
    const { max, rate } = storedLimits(limits);
    const take = () => this.scripts.takeToken(KEY_PREFIX + keyId, max, rate);
    const [admitted, tokens, time, now] = await this.connection.run(take);
    const state = { tokens, time, max, rate };
    return { result: toTakeResult(state, admitted === 1, now), state, now };
  }
}
