import { Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../config';
import { LocalLimits } from './local-limits';
import { RedisConnection } from './redis';
import { RedisTokenBucketStore } from './redis-token-bucket.store';
import { TokenBucketStore } from './token-bucket.store';

/** The token buckets, with their connection to Redis if one is configured. */
@Module({
  providers: [
    LocalLimits,
    {
      provide: RedisConnection,
      inject: [Config],
      useFactory: ({ redisUrl, redisSentinels }: Config) =>
        redisUrl ? new RedisConnection(redisUrl, redisSentinels) : undefined,
    },
    {
      provide: TokenBucketStore,
      inject: [RedisConnection],
      useFactory: (redis?: RedisConnection) => new TokenBucketStore(redis && new RedisTokenBucketStore(redis)),
    },
  ],
  exports: [LocalLimits, TokenBucketStore],
})
export class RateLimitModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    private readonly store: TokenBucketStore,
    private readonly redis?: RedisConnection,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.redis?.waitUntilReady();
    await this.store.checkRedis();
  }

  /** Requests in progress still need Redis, so the connection is closed only now. */
  async onApplicationShutdown(): Promise<void> {
    await this.redis?.close();
  }
}
