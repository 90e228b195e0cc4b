import { Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Redis } from 'ioredis';

import { Config } from '../config';
import { InProcessTokenBucketStore } from './in-process-token-bucket.store';
import { closeRedis, createRedis, REDIS, untilReady } from '../redis/redis';
import { RedisTokenBucketStore } from './redis-token-bucket.store';
import { ResilientTokenBucketStore } from './resilient-token-bucket.store';
import { TokenBucketStore } from './token-bucket.store';

/** The token buckets: in Redis when it is configured, otherwise in this process. */
@Module({
  providers: [
    {
      provide: REDIS,
      inject: [Config],
      useFactory: ({ redisUrl, redisSentinels }: Config) =>
        redisUrl ? createRedis(redisUrl, redisSentinels) : undefined,
    },
    {
      provide: TokenBucketStore,
      inject: [REDIS],
      useFactory: (redis?: Redis) =>
        redis ? new ResilientTokenBucketStore(new RedisTokenBucketStore(redis)) : new InProcessTokenBucketStore(),
    },
  ],
  exports: [TokenBucketStore, REDIS],
})
export class RateLimitModule implements OnModuleInit, OnApplicationShutdown {
  constructor(@Inject(REDIS) private readonly redis?: Redis) {}

  async onModuleInit(): Promise<void> {
    if (this.redis) await untilReady(this.redis);
  }

  /** Not earlier: requests that are still under way need it. */
  async onApplicationShutdown(): Promise<void> {
    if (this.redis) await closeRedis(this.redis);
  }
}
